import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Behaviour } from './behaviour.js';
import { createLogEntry, type LogEntry } from './request-log.js';

type Headers = Readonly<Record<string, string | number | undefined>>;

/** One request and its answer. */
export class Exchange {
  readonly url: URL;
  readonly entry: LogEntry;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly behaviour: Behaviour,
  ) {
    this.url = new URL(request.url ?? '/', `http://${request.headers.host ?? 'registry.test'}`);
    this.entry = createLogEntry(request.method ?? '', this.url, request.headers);
    // Listening starts the flow of the body, unless it is paused before: it is to wait for who wants it.
    request.pause();
    request.on('data', (chunk: Buffer) => (this.entry.requestBytes += chunk.length));
    request.on('error', () => {});
    response.on('error', () => {});
    response.on('finish', () => (this.entry.complete = true));
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  /** Status and headers, as the behaviour bends them. */
  begin(status: number, headers: Headers = {}): void {
    const warnings = this.behaviour.warnings.map((text) => `299 - "${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`);
    const bent = {
      'docker-distribution-api-version': 'registry/2.0',
      ...(warnings.length === 0 ? {} : { warning: warnings.join(', ') }),
      ...headers,
      ...this.behaviour.headers?.(this.entry),
    };
    this.entry.status = status;
    this.response.statusCode = status;
    for (const [name, value] of Object.entries(bent)) if (value !== undefined) this.response.setHeader(name, value);
  }

  answer(status: number, headers: Headers = {}, body: Uint8Array | string = ''): void {
    const bytes = Buffer.from(body);
    this.begin(status, { ...(status === 204 ? {} : { 'content-length': bytes.length }), ...headers });
    if (this.entry.method !== 'HEAD') this.entry.responseBytes += bytes.length;
    this.response.end(this.entry.method === 'HEAD' ? '' : bytes);
  }

  json(value: unknown, headers: Headers = {}): void {
    this.answer(200, { 'content-type': 'application/json', ...headers }, JSON.stringify(value));
  }

  /** An error as the distribution specification wants it, or as a proxy answers. */
  fail(status: number, code: string, message: string, headers: Headers = {}): void {
    const body = this.behaviour.htmlErrors
      ? `<!doctype html><html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`
      : JSON.stringify({ errors: [{ code, message, detail: null }] });
    const type = this.behaviour.htmlErrors ? 'text/html; charset=utf-8' : 'application/json';
    this.answer(status, { 'content-type': type, ...headers }, body);
  }

  /**
   * Hands over the body as it arrives, to the last byte that came through. False when the connection broke before its end. Call it before
   * anything is awaited, or bytes of a broken connection are lost.
   */
  receive(take: (chunk: Buffer) => void): Promise<boolean> {
    const { request } = this;
    return new Promise((resolve, reject) => {
      const takeOrReject = (chunk: Buffer) => {
        try {
          take(chunk);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      if (request.destroyed && !request.readableEnded) return resolve(false);
      request.on('data', takeOrReject);
      request.once('end', () => resolve(true));
      request.once('close', () => resolve(false));
      request.resume();
    });
  }

  /** The whole body; undefined when it is larger than `limit`, what is beyond being read and dropped. */
  async collect(limit: number): Promise<Buffer | undefined> {
    const chunks: Buffer[] = [];
    let size = 0;
    const isWhole = await this.receive((chunk) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
    });
    if (!isWhole) throw new Error('The connection broke before the end of the body');
    return size > limit ? undefined : Buffer.concat(chunks);
  }
}
