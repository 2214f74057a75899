import { createError, isDigest, isRepository, isToolkitError } from '../../core/index.js';
import type { RegistryClient } from '../../registry/client/index.js';
import type { Upstream } from '../../registry/server/index.js';
import { openRegistries, type RegistryContext } from '../registries.js';

/** What `--mirror` says. */
export interface UpstreamAddress {
  /** As it is shown: without anything that could be a secret. */
  readonly text: string;
  readonly host: string;
  /** Before every repository: empty, or with a slash at its end. */
  readonly prefix: string;
  /** Undefined where the address does not say it. */
  readonly isPlain: boolean | undefined;
}

/** `[http://|https://]HOST[:PORT][/PREFIX]`; throws `ops/bad-option`. */
export function parseUpstream(text: string): UpstreamAddress {
  const [, scheme, host = '', rest = ''] = /^(?:(https?):\/\/)?([^/]*)(.*)$/.exec(text) ?? [];
  const path = rest.replace(/^\/+|\/+$/g, '');
  if (/^(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:\d{1,5})?$/i.test(host) && URL.canParse(`http://${host}`) && (path === '' || isRepository(path))) {
    return { text, host, prefix: path === '' ? '' : `${path}/`, isPlain: scheme === undefined ? undefined : scheme === 'http' };
  }
  throw createError('ops/bad-option', {
    message: 'Cannot use the address after --mirror: expected [https://]HOST[:PORT][/PREFIX], without a login',
    hint: 'For example --mirror https://ghcr.io; `modelport login HOST` keeps the login for it',
  });
}

type Repository = ReturnType<RegistryClient['repository']>;

/** Repositories whose last manifests are remembered. */
const mostRepositories = 256;

const mostTags = 100_000;

/** Somebody waits for the answer, and asks again if need be; what is here already had better not come late. */
const retry = { attempts: 3, first: 200, longest: 1000, longestAsked: 5000 };

/** With connections of its own: mirrors of the mirror would hide what the other registry says. */
export async function openMirrored(address: UpstreamAddress, signal: AbortSignal, context: RegistryContext): Promise<Upstream> {
  const plain = address.isPlain === undefined ? {} : { plainHttp: address.isPlain };
  const client = await openRegistries({ ...context, signal, network: { ...context.network, ...plain, mirrors: [] } }, { retry });
  signal.addEventListener('abort', () => client.close());
  return openUpstream(address, client);
}

/** The registry that a mirror stands in front of, through the client. */
export function openUpstream({ host, prefix }: UpstreamAddress, client: Pick<RegistryClient, 'repository'>): Upstream {
  const known = new Map<string, Repository>();
  const open = (repository: string) => {
    const found = known.get(repository) ?? client.repository(host, prefix + repository);
    if (known.size >= mostRepositories) known.clear();
    known.set(repository, found);
    return found;
  };
  return {
    host,
    resolve: (repository, reference) => orNone(isDigest(reference) ? open(repository).findBlob(reference) : open(repository).resolve(reference)),
    findBlob: (repository, digest) => orNone(open(repository).findLayer(digest)),
    blobs: open,
    listTags: (repository) => orNone(listTags(open(repository))),
    listReferrers: async (repository, subject) => (await orNone(open(repository).listReferrers(subject))) ?? [],
  };
}

async function listTags(repository: Repository): Promise<readonly string[]> {
  const tags: string[] = [];
  for await (const tag of repository.listTags()) if (tags.push(tag) >= mostTags) break;
  return tags;
}

/** What the other registry does not have is no failure. */
async function orNone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isToolkitError(error, 'registry/not-found')) return undefined;
    throw error;
  }
}
