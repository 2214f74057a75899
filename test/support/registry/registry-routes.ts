import { answerBlob } from './blob-routes.js';
import { isSoundDigest } from './digests.js';
import { type Exchange } from './exchange.js';
import { answerCatalog, answerReferrers, answerTags } from './list-routes.js';
import { answerManifest } from './manifest-routes.js';
import { authenticate } from './registry-auth.js';
import { type RegistryRoom } from './registry-room.js';
import { type Access } from './token-scope.js';
import { answerUpload, beginUpload } from './upload-routes.js';

/** What a request is about. `item` is a digest, a tag or an upload. */
interface Target {
  readonly kind: 'ping' | 'catalog' | 'blob' | 'uploads' | 'upload' | 'manifest' | 'tags' | 'referrers';
  readonly repository: string;
  readonly item: string;
}

const patterns: readonly (readonly [Target['kind'], RegExp, readonly string[]])[] = [
  ['ping', /^\/v2\/?()()$/, ['GET', 'HEAD']],
  ['catalog', /^\/v2\/_catalog()()$/, ['GET']],
  ['uploads', /^\/v2\/(.+)\/blobs\/uploads\/?()$/, ['POST']],
  ['upload', /^\/v2\/(.+)\/blobs\/uploads\/([^/]+)$/, ['GET', 'PATCH', 'PUT', 'DELETE']],
  ['blob', /^\/v2\/(.+)\/blobs\/([^/]+)$/, ['GET', 'HEAD', 'DELETE']],
  ['manifest', /^\/v2\/(.+)\/manifests\/([^/]+)$/, ['GET', 'HEAD', 'PUT', 'DELETE']],
  ['tags', /^\/v2\/(.+)\/tags\/list()$/, ['GET']],
  ['referrers', /^\/v2\/(.+)\/referrers\/([^/]+)$/, ['GET']],
];

const repositoryName = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$/;

/** Answers one request, or lets it break. */
export async function answerRequest(exchange: Exchange, room: RegistryRoom): Promise<void> {
  const { method, path } = exchange.entry;
  const match = patterns.flatMap(([kind, pattern, methods]) => {
    const [found, repository = '', item = ''] = pattern.exec(path) ?? [];
    return found === undefined ? [] : [{ target: { kind, repository, item }, methods }];
  })[0];
  if (match === undefined) return exchange.fail(404, 'UNSUPPORTED', 'there is no such page');
  if (!match.methods.includes(method)) return exchange.fail(405, 'UNSUPPORTED', `no ${method} here`);
  if (!authenticate(exchange, room.auth, neededAccess(exchange, match.target))) return;
  const { repository } = match.target;
  if (repository !== '' && !repositoryName.test(repository)) return exchange.fail(400, 'NAME_INVALID', 'invalid repository name');
  await answerTarget(exchange, room, match.target);
}

async function answerTarget(exchange: Exchange, room: RegistryRoom, { kind, repository, item }: Target): Promise<void> {
  switch (kind) {
    case 'ping':
      return exchange.json({});
    case 'catalog':
      return answerCatalog(exchange, room);
    case 'uploads':
      return beginUpload(exchange, room, repository);
    case 'upload':
      return answerUpload(exchange, room, repository, item);
    case 'manifest':
      return answerManifest(exchange, room, repository, item);
    case 'tags':
      return answerTags(exchange, room, repository);
    case 'referrers':
      return answerReferrers(exchange, room, repository, item);
    case 'blob':
      return isSoundDigest(item) ? answerBlob(exchange, room, repository, item) : exchange.fail(400, 'DIGEST_INVALID', 'the digest is malformed');
  }
}

function neededAccess({ entry, behaviour }: Exchange, { kind, repository }: Target): Access[] {
  if (kind === 'ping') return [];
  if (kind === 'catalog') return [{ type: 'registry', name: 'catalog', actions: ['*'] }];
  const own = { type: 'repository', name: repository, actions: neededActions(entry.method, kind) };
  const source = kind === 'uploads' && behaviour.mountWithoutRight === 'refuse' && entry.query.has('mount') ? entry.query.get('from') : null;
  return source === null ? [own] : [own, { type: 'repository', name: source, actions: ['pull'] }];
}

function neededActions(method: string, kind: Target['kind']): string[] {
  if (kind === 'uploads' || kind === 'upload') return ['pull', 'push'];
  if (method === 'DELETE') return ['delete'];
  return method === 'PUT' ? ['pull', 'push'] : ['pull'];
}
