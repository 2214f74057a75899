import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

export interface Question {
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: Uint8Array;
  /** Sends the body in chunked coding, without Content-Length. */
  readonly streamed?: boolean;
}

export interface Answer {
  /** What was asked, as `METHOD target`, for the words of a failure. */
  readonly asked: string;
  readonly method: string;
  /** Of the request, absolute: what a relative Location is relative to. */
  readonly url: string;
  readonly status: number;
  /** Fields that came several times are joined by `, `. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Asks a registry over plain HTTP/1.1 with connections that are kept. Close it. */
export class Wire {
  readonly #agent = new Agent({ keepAlive: true });

  constructor(readonly url: string) {}

  /** `target` goes out as it is when it begins with a slash, however odd; else it is an absolute URL. Answers of any status are given back. */
  send(method: string, target: string, question: Question = {}): Promise<Answer> {
    const { origin, path } = this.#locate(target);
    const { hostname, port } = new URL(origin);
    const url = `${origin}${path}`;
    return new Promise((resolve, reject) => {
      const fail = (cause: Error) => reject(new Error(`${method} ${shorten(target)} got no answer: ${cause.message}`, { cause }));
      const outgoing = request({ agent: this.#agent, hostname, port, path, method, headers: headersOf(question) });
      const take = (incoming: IncomingMessage) => {
        // Who has answered may stop to listen: what breaks from here on is for the reader of the answer to notice.
        outgoing.off('error', fail).on('error', () => {});
        const { statusCode: status = 0, headers } = incoming;
        readBody(incoming).then((body) => resolve({ asked: `${method} ${shorten(target)}`, method, url, status, headers, body }), fail);
      };
      outgoing.on('error', fail).on('response', take);
      if (question.streamed === true && question.body !== undefined) outgoing.write(question.body);
      outgoing.end(question.streamed === true ? undefined : question.body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #locate(target: string): { readonly origin: string; readonly path: string } {
    if (target.startsWith('/')) return { origin: this.url, path: target };
    const { origin, pathname, search } = new URL(target);
    return { origin, path: `${pathname}${search}` };
  }
}

function headersOf({ headers = {}, body, streamed }: Question): Record<string, string | number> {
  if (streamed === true) return { ...headers, 'transfer-encoding': 'chunked' };
  return { 'content-length': body?.length ?? 0, ...headers };
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function shorten(target: string): string {
  return target.length > 300 ? `${target.slice(0, 300)}…` : target;
}

/** The target with one more parameter; what it has is kept, as it may be what the registry needs. (distribution-spec, POST then PUT) */
export function withQuery(target: string, name: string, value: string): string {
  return `${target}${target.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;
}
