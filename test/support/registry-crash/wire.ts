import { Agent, type IncomingHttpHeaders, type IncomingMessage, request, type RequestOptions } from 'node:http';

export interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** In chunked coding, without Content-Length. */
  readonly streamed?: boolean;
}

export interface Answer {
  /** As `METHOD target`, for the words of a failure. */
  readonly asked: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** No whole answer came: nobody knows whether the request was carried out. */
export class Broken extends Error {}

/** Plain HTTP/1.1 to a server that may die at any moment. Close it. */
export class Wire {
  readonly #agent = new Agent({ keepAlive: true });

  /** `onRequest` is told right after a request has been handed to the system. */
  constructor(
    readonly url: string,
    private readonly onRequest: () => void = () => {},
  ) {}

  /** Answers of any status are given back; throws `Broken`. */
  ask(method: string, target: string, { headers = {}, body = new Uint8Array(0), streamed = false }: Asked = {}): Promise<Answer> {
    const length = streamed ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.byteLength) };
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown) => reject(new Broken(`${method} ${target} got no answer: ${String(cause)}`, { cause }));
      const outgoing = request(this.#locate(method, target, { ...length, ...headers }), (incoming) => {
        const { statusCode: status = 0, headers: said } = incoming;
        readAll(incoming).then((bytes) => resolve({ asked: `${method} ${target}`, status, headers: said, body: bytes }), fail);
      });
      outgoing.on('error', fail);
      if (streamed) for (const half of halves(body)) outgoing.write(half);
      outgoing.end(streamed ? undefined : body);
      this.onRequest();
    });
  }

  /** Sends the head and the first half of the body, and is gone. */
  cut(method: string, target: string, headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      const outgoing = request({ ...this.#locate(method, target, { ...headers, 'content-length': String(body.byteLength) }), agent: false });
      outgoing.on('error', () => {}).on('close', resolve);
      outgoing.write(halves(body)[0], () => outgoing.destroy());
      this.onRequest();
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #locate(method: string, target: string, headers: Readonly<Record<string, string>>): RequestOptions {
    const { hostname, port } = new URL(this.url);
    return { agent: this.#agent, hostname, port, path: target, method, headers };
  }
}

function halves(bytes: Uint8Array): readonly [Uint8Array, Uint8Array] {
  const middle = Math.ceil(bytes.byteLength / 2);
  return [bytes.subarray(0, middle), bytes.subarray(middle)];
}

async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function assertStatus({ asked, status, body }: Answer, ...allowed: readonly number[]): void {
  if (allowed.includes(status)) return;
  throw new Error(`${asked} was answered with ${status} and not ${allowed.join(' or ')}: ${body.toString('utf8', 0, 500)}`);
}
