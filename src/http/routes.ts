import { Agent as HttpAgent, type AgentOptions as HttpAgentOptions, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { type Exchange, idleTime, type Wire } from './exchange.js';
import { proxyFor } from './proxy-for.js';
import type { TlsSettings } from './tls-settings.js';

/** How a request travels through node:http. */
export interface Route {
  readonly agent: HttpAgent;
  readonly proxy: URL | undefined;
  /** For the request itself: the agent of a tunnel does not pass its own on. */
  readonly tls: Partial<TlsSettings>;
}

/** Emitted on a request whose connection is no longer waited for. */
export const givenUp = 'modelport:given-up';

const maxSockets = 64;

/**
 * The agents of one client, made when they are first needed: by scheme, proxy and reach. A connection that was made for an address
 * anywhere is never used for one that must be public.
 */
export class Routes {
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #wire: Wire;
  readonly #agents = new Map<string, Promise<HttpAgent>>();

  constructor(env: Readonly<Record<string, string | undefined>>, wire: Wire) {
    this.#env = env;
    this.#wire = wire;
  }

  proxyFor(url: URL): URL | undefined {
    return proxyFor(url, this.#env);
  }

  async find({ url, reach }: Pick<Exchange, 'url' | 'reach'>): Promise<Route> {
    const proxy = this.proxyFor(url);
    const key = `${url.protocol} ${reach} ${proxy?.href ?? ''}`;
    const agent = this.#agents.get(key) ?? this.#create(url.protocol === 'https:', proxy, this.#wire.policy.createLookup(reach));
    this.#agents.set(key, agent);
    return { agent: await agent, proxy, tls: url.protocol === 'https:' ? await this.#wire.tls() : {} };
  }

  async #create(isSecure: boolean, proxy: URL | undefined, lookup: LookupFunction): Promise<HttpAgent> {
    const base = { keepAlive: true, maxSockets, timeout: idleTime };
    const tls = proxy?.protocol === 'https:' ? await this.#wire.tls() : {};
    if (proxy !== undefined) return isSecure ? createTunnel(proxy, { ...base, ...tls }) : createForwarder(proxy, { ...base, ...tls });
    return isSecure ? new HttpsAgent({ ...base, lookup }) : new HttpAgent({ ...base, lookup });
  }

  /** Connections at work end by themselves. */
  close(): void {
    for (const agent of this.#agents.values()) void closeIdle(agent);
    this.#agents.clear();
  }
}

async function closeIdle(agent: Promise<HttpAgent>): Promise<void> {
  const { freeSockets = {} } = (await agent.catch(() => undefined)) ?? {};
  for (const socket of Object.values(freeSockets).flatMap((sockets) => sockets ?? [])) socket.destroy();
}

type ProxyOptions = HttpAgentOptions & Partial<TlsSettings>;

async function createTunnel(proxy: URL, options: ProxyOptions): Promise<HttpAgent> {
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  const agent = new HttpsProxyAgent(proxy, options);
  const connect = agent.connect.bind(agent);
  const { connectOpts } = agent;
  // The request has no socket to destroy until the proxy has said yes: a signal ends one that does not.
  agent.connect = async (request: ClientRequest, target) => {
    const abort = new AbortController();
    const stop = () => abort.abort();
    request.once(givenUp, stop);
    agent.connectOpts = { ...connectOpts, signal: abort.signal };
    const connected = connect(request, target);
    try {
      return await connected;
    } finally {
      request.off(givenUp, stop);
    }
  };
  return agent;
}

async function createForwarder(proxy: URL, options: ProxyOptions): Promise<HttpAgent> {
  const { HttpProxyAgent } = await import('http-proxy-agent');
  return new HttpProxyAgent(proxy, options);
}
