import { type ByteCounters, type DigestCache, isJsonObject, type Limits } from '../../core/index.js';
import { toRegistryAddress } from './address.js';
import type { CredentialStore } from './auth/auth.js';
import { createAuthorizer } from './auth/authorizer.js';
import { Connection } from './connection.js';
import { endpoint } from './endpoint.js';
import { createHttpClient } from './http/http-client.js';
import type { TlsOptions } from './http/http.js';
import { readPages } from './pages.js';
import { RemoteRepository } from './repository.js';
import { defaultRetry, type RetryPolicy } from './retry.js';
import type { UploadJournal } from './upload-journal.js';

export interface RegistryClientOptions {
  /** For the proxy variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits: Limits;
  readonly counters: ByteCounters;
  readonly credentials: CredentialStore;
  readonly journal: UploadJournal;
  readonly digests?: DigestCache | undefined;
  /** Also for hosts that are not this machine. */
  readonly plainHttp: boolean;
  readonly tls: TlsOptions;
  readonly trustedRealmHosts: readonly string[];
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
  readonly retry?: RetryPolicy;
  /** Told once what a registry wants a person to hear. */
  readonly warn: (host: string, text: string) => void;
}

/** Registries, each with one login and its connections. */
export interface RegistryClient {
  repository(host: string, name: string): RemoteRepository;
  /** Repositories of a registry, where it tells them. */
  listRepositories(host: string): AsyncGenerator<string, void, undefined>;
  /** Whether the registry answers and takes the login; throws `registry/login` and whatever keeps it from answering. */
  ping(host: string): Promise<void>;
  close(): void;
}

export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const { env, counters, tls, limits, signal } = options;
  const http = createHttpClient({ env, counters, tls });
  const connections = new Map<string, Connection>();
  const connect = (host: string) => {
    const known = connections.get(host) ?? createConnection(host, http, options);
    connections.set(host, known);
    return known;
  };
  return {
    repository: (host, name) => {
      const connection = connect(host);
      const { defaultNamespace } = connection.address.quirks;
      return new RemoteRepository(connection, defaultNamespace !== undefined && !name.includes('/') ? `${defaultNamespace}/${name}` : name, options);
    },
    listRepositories: async function* (host) {
      const call = {
        action: `list the repositories of ${host}`,
        method: 'GET',
        target: endpoint.catalog('?n=1000'),
        accepts: [200],
        signal,
      } as const;
      for await (const page of readPages(connect(host), { ...call, scopes: [{ kind: 'catalog' }] }, limits)) {
        const names = isJsonObject(page) ? page['repositories'] : undefined;
        for (const name of Array.isArray(names) ? names : []) if (typeof name === 'string') yield name;
      }
    },
    ping: async (host) => {
      const response = await connect(host).call({ action: `log in to ${host}`, method: 'GET', target: '/v2/', scopes: [], accepts: [200], signal });
      response.drop();
    },
    close: () => http.close(),
  };
}

function createConnection(host: string, http: ReturnType<typeof createHttpClient>, options: RegistryClientOptions): Connection {
  const { credentials, trustedRealmHosts, retry = defaultRetry, plainHttp, warn } = options;
  const address = toRegistryAddress(host, plainHttp);
  const authorizer = createAuthorizer({ host, registryUrl: address.origin, http, credentials, trustedRealmHosts });
  return new Connection(address, http, authorizer, retry, (text) => warn(host, text));
}
