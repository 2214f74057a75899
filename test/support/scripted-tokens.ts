import { createServer, request as openRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collect } from '../../src/bytes/index.js';
import type { HttpClient, HttpRequest, HttpResponse } from '../../src/http/http.js';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly form: URLSearchParams;
  /** Resolves when the other side is gone. */
  readonly closed: Promise<void>;
}

export interface TokenReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface TokenServer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly seen: readonly SeenRequest[];
  close(): Promise<void>;
}

/** A token service on this machine that answers what a test tells it to, right or wrong; registry/token-server.ts is an honest one. Close it. */
export async function serveTokens(answer: (request: SeenRequest) => TokenReply | Promise<TokenReply>): Promise<TokenServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    const respond = async () => {
      const url = new URL(incoming.url ?? '', 'http://localhost');
      const form = new URLSearchParams(Buffer.from(await collect(incoming, 65_536, 'a form')).toString());
      const closed = new Promise<void>((resolve) => {
        outgoing.once('close', resolve);
      });
      const request = { method: incoming.method ?? '', path: url.pathname, query: url.searchParams, headers: incoming.headers, form, closed };
      seen.push(request);
      const { status = 200, headers = {}, body = {} } = await answer(request);
      outgoing.writeHead(status, { connection: 'close', ...headers });
      outgoing.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    respond().catch((error: unknown) => outgoing.destroy(error as Error));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export interface PlainClient extends HttpClient {
  readonly sent: readonly HttpRequest[];
}

/** Sends over loopback HTTP, without redirects. `routes` leads the origins of other hosts to servers of the test. */
export function createPlainClient(routes: Readonly<Record<string, string>> = {}): PlainClient {
  const sent: HttpRequest[] = [];
  return {
    sent,
    send: async (request) => {
      sent.push(request);
      const { origin, href } = new URL(request.url);
      return send(request, href.replace(origin, routes[origin] ?? origin));
    },
    close: () => {},
  };
}

async function send({ method, url, headers = {}, authorization, body, signal }: HttpRequest, address: string): Promise<HttpResponse> {
  const payload = body === undefined ? undefined : await collect(await body.open(), 65_536, 'a body');
  return new Promise((resolve, reject) => {
    const all = authorization === undefined ? headers : { ...headers, authorization };
    const outgoing = openRequest(address, { method, headers: all, agent: false, ...(signal === undefined ? {} : { signal }) }, (incoming) => {
      const joined = Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]);
      const response = { status: incoming.statusCode ?? 0, headers: Object.fromEntries(joined) as Record<string, string>, url };
      resolve({ ...response, body: incoming, drop: () => incoming.destroy() });
    });
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}
