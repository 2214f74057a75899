import { type ByteCounters, createError, type DigestCache, isJsonObject, type Limits } from '../../core/index.js';
import { toRegistryAddress } from './address.js';
import type { BlobPlaces } from './blob-places.js';
import type { CredentialStore } from './auth/auth.js';
import { createAuthorizer } from './auth/authorizer.js';
import { Connection } from './connection.js';
import { endpoint } from './endpoint.js';
import { isHostName, isRepositoryName } from './grammar.js';
import { createHttpClient, defaultRetry, type HttpClient, type RetryPolicy, type Timeouts, type TlsOptions } from '../../http/index.js';
import { MirroredRepository, type ReadableRepository } from './mirrored.js';
import { readPages } from './pages.js';
import type { Quirks } from './quirks.js';
import { RemoteRepository } from './repository.js';
import type { UploadJournal } from './upload-journal.js';

export interface RegistryClientOptions {
  /** For the proxy variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits: Limits;
  readonly counters: ByteCounters;
  readonly credentials: CredentialStore;
  readonly journal: UploadJournal;
  readonly places: BlobPlaces;
  readonly digests?: DigestCache | undefined;
  /** Whether a host is spoken to without TLS; undefined: if it is this machine. */
  readonly isPlainHttp: (host: string) => boolean | undefined;
  readonly tls: TlsOptions;
  /** Other hosts that may get the login of a registry, because they hand out its tokens. */
  readonly tokenHostsOf: (host: string) => readonly string[];
  /** Asked first when something of a registry is read; `HOST[:PORT][/PREFIX]`, with `http://` before it for one without TLS. */
  readonly mirrorsOf: (host: string) => readonly string[];
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
  /** For whoever has somebody waiting, and for tests. */
  readonly retry?: RetryPolicy;
  /** This and the next for tests: short waits, and small pieces. */
  readonly timeouts?: Timeouts;
  readonly quirks?: Partial<Quirks>;
  /** Told once what a registry wants a person to hear. */
  readonly warn: (host: string, text: string) => void;
}

/** Registries, each with one login and its connections. */
export interface RegistryClient {
  repository(host: string, name: string): RemoteRepository;
  /** The same for reading, through the mirrors of the registry. */
  source(host: string, name: string): ReadableRepository;
  /** Repositories of a registry, where it tells them. */
  listRepositories(host: string): AsyncGenerator<string, void, undefined>;
  /** Whether the registry answers and takes the login, and whether it asked for one; throws `registry/login` and whatever keeps it from answering. */
  ping(host: string): Promise<{ readonly asked: boolean }>;
  close(): void;
}

export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const { env, counters, tls, limits, signal, timeouts } = options;
  const http = createHttpClient({ env, counters, tls, ...(timeouts === undefined ? {} : { timeouts }) });
  const connections = new Map<string, Connection>();
  const connect = (host: string, isPlain = options.isPlainHttp(host)) => {
    const known = connections.get(host) ?? createConnection(host, isPlain, http, options);
    connections.set(host, known);
    return known;
  };
  const repository = (host: string, name: string) => {
    const connection = connect(host);
    const { defaultNamespace } = connection.address.quirks;
    return new RemoteRepository(connection, defaultNamespace !== undefined && !name.includes('/') ? `${defaultNamespace}/${name}` : name, options);
  };
  const mirror = (text: string, origin: RemoteRepository) => {
    const { host, prefix, isPlain } = parseMirror(text);
    return new RemoteRepository(connect(host, isPlain), prefix + origin.repository, { ...options, namespace: origin.host });
  };
  return {
    repository,
    source: (host, name) => {
      const origin = repository(host, name);
      const mirrors = options.mirrorsOf(host).map((text) => mirror(text, origin));
      return mirrors.length === 0 ? origin : new MirroredRepository(origin, mirrors, options.warn);
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
        for (const name of Array.isArray(names) ? names : []) if (isRepositoryName(name)) yield name;
      }
    },
    ping: async (host) => {
      const connection = connect(host);
      const response = await connection.call({ action: `log in to ${host}`, method: 'GET', target: '/v2/', scopes: [], accepts: [200], signal });
      response.drop();
      return { asked: connection.wasChallenged };
    },
    close: () => http.close(),
  };
}

interface Mirror {
  readonly host: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  readonly isPlain: boolean | undefined;
}

/** `[http://|https://]HOST[:PORT][/PREFIX]` */
function parseMirror(text: string): Mirror {
  const [, scheme, host = '', rest = ''] = /^(https?):\/\/([^/]*)(.*)$/.exec(text) ?? /^()([^/]*)(.*)$/.exec(text) ?? [];
  const path = rest.replace(/^\/+|\/+$/g, '');
  if (!isHostName(host) || (path !== '' && !isRepositoryName(path))) {
    throw createError('core/bad-location', {
      message: `Cannot use the mirror ${JSON.stringify(text.slice(0, 300))}: expected HOST[:PORT][/PREFIX], with http:// before it for one without TLS`,
      hint: 'For example localhost:65001, http://cache.lan:5000 or mirror.example.com/ghcr',
    });
  }
  return { host, prefix: path === '' ? '' : `${path}/`, isPlain: scheme === '' ? undefined : scheme === 'http' };
}

function createConnection(host: string, isPlain: boolean | undefined, http: HttpClient, options: RegistryClientOptions): Connection {
  const { credentials, retry = defaultRetry, warn } = options;
  const address = toRegistryAddress(host, isPlain, options.quirks);
  const authorizer = createAuthorizer({ host, registryUrl: address.origin, http, credentials, trustedRealmHosts: options.tokenHostsOf(host) });
  return new Connection(address, http, authorizer, retry, (text) => warn(host, text));
}
