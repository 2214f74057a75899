import { createServer, type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { parseBasic, type UserPassword } from './basic-credentials.js';
import { listen } from './listen.js';

export interface ConnectProxyOptions {
  /** 407 for everybody else. */
  readonly user?: UserPassword;
  /** `HOST:PORT` as asked for → where it truly is, so that tests may use any name. Otherwise nothing but loopback is reached: 502. */
  readonly routes?: Readonly<Record<string, string>>;
}

/** One request to the proxy. */
export interface ProxiedRequest {
  readonly kind: 'connect' | 'absolute';
  readonly method: string;
  /** `HOST:PORT` */
  readonly target: string;
  /** What the proxy answered by itself; 200 when it passed the request on. */
  readonly status: 200 | 400 | 407 | 502;
  /** What a proxy should not get to see: the scheme of Authorization in a request that it can read. */
  readonly authorization: string | undefined;
}

export interface ConnectProxy {
  /** `127.0.0.1:PORT` */
  readonly host: string;
  /** For HTTP_PROXY, without credentials. */
  readonly url: string;
  readonly requests: readonly ProxiedRequest[];
  close(): Promise<void>;
}

const loopback = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\]):\d+$/;

/** An HTTP proxy on loopback: CONNECT, and requests for whole URLs. Close it. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const desk = new ProxyDesk(options);
  const server = createServer((request, response) => desk.forward(request, response));
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => desk.tunnel(request, client, head));
  const listening = await listen(server);
  const host = `127.0.0.1:${listening.port}`;
  return {
    host,
    url: `http://${host}`,
    requests: desk.requests,
    close: async () => {
      await listening.close();
      desk.close();
    },
  };
}

class ProxyDesk {
  readonly requests: ProxiedRequest[] = [];
  readonly #upstream = new Set<Socket>();

  constructor(private readonly options: ConnectProxyOptions) {}

  tunnel(request: IncomingMessage, client: Socket, head: Buffer): void {
    const target = request.url ?? '';
    const route = this.#judge(request, 'connect', target);
    client.on('error', () => client.destroy());
    if (typeof route === 'number') {
      const challenge = route === 407 ? 'Proxy-Authenticate: Basic realm="proxy"\r\n' : '';
      return void client.end(`HTTP/1.1 ${route} Refused\r\n${challenge}Content-Length: 0\r\nConnection: close\r\n\r\n`);
    }
    const server = connect(route);
    this.#upstream.add(server);
    server.on('close', () => {
      this.#upstream.delete(server);
      client.destroy();
    });
    client.on('close', () => server.destroy());
    server.on('error', () => client.destroy());
    server.on('connect', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      server.write(head);
      client.pipe(server);
      server.pipe(client);
    });
  }

  forward(request: IncomingMessage, response: ServerResponse): void {
    const url = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : undefined;
    const target = url === undefined ? '' : `${url.hostname}:${url.port === '' ? '80' : url.port}`;
    const route = this.#judge(request, 'absolute', target);
    if (typeof route === 'number' || url === undefined) {
      response.writeHead(typeof route === 'number' ? route : 400, route === 407 ? { 'proxy-authenticate': 'Basic realm="proxy"' } : {});
      response.end();
      return void request.resume();
    }
    const { 'proxy-authorization': _, 'proxy-connection': __, ...headers } = request.headers;
    const sent = send({ ...route, method: request.method, path: url.pathname + url.search, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    request.pipe(sent);
  }

  close(): void {
    for (const socket of this.#upstream) socket.destroy();
  }

  /** Where to go, or the status that says why not. */
  #judge(request: IncomingMessage, kind: ProxiedRequest['kind'], target: string): { host: string; port: number } | 400 | 407 | 502 {
    const route = this.#findRoute(request, target);
    const authorization = request.headers.authorization?.split(' ')[0];
    this.requests.push({ kind, method: request.method ?? '', target, status: typeof route === 'number' ? route : 200, authorization });
    return route;
  }

  #findRoute(request: IncomingMessage, target: string): { host: string; port: number } | 400 | 407 | 502 {
    const { user, routes = {} } = this.options;
    const given = parseBasic(request.headers['proxy-authorization']);
    if (user !== undefined && (given?.user !== user.user || given.password !== user.password)) return 407;
    const place = routes[target] ?? (loopback.test(target) ? target : undefined);
    if (target === '') return 400;
    const [, host, port] = /^\[?(.+?)\]?:(\d+)$/.exec(place ?? '') ?? [];
    return host === undefined ? 502 : { host, port: Number(port) };
  }
}
