import { defaultLimits, type Finding, isToolkitError, type Limits, type RegistryStore } from '../../core/index.js';
import { jsonAnswer, withoutBody } from './answers.js';
import { answerBlob } from './blobs.js';
import { answerCatalog, answerExtensions } from './catalog.js';
import type { RegistryHandler, RegistryRequest, RegistryResponse, RequestSubject } from './http.js';
import { createManifestShelf } from './manifest-shelf.js';
import { answerManifest } from './manifests.js';
import { createMirror } from './mirror.js';
import { answerReferrers } from './referrers.js';
import { findRefusal, Refusal, toAnswer } from './refusal.js';
import { createRepositoryIndex } from './repositories.js';
import { createViews } from './repository-view.js';
import { type Ask, type CountMirrored, defaultRules, type RegistryRoom, type RegistryRules } from './room.js';
import { parseTarget, type Route, toSubject } from './route.js';
import { answerTags } from './tags.js';
import { createUploadDesk } from './upload-desk.js';
import { answerUpload } from './uploads.js';
import type { Upstream } from './upstream.js';

export interface RegistryOptions {
  readonly store: RegistryStore;
  readonly limits?: Limits;
  readonly rules?: Partial<RegistryRules>;
  /** Nothing can be pushed or deleted. */
  readonly readOnly?: boolean;
  /** Names of these hosts are served too, without the host. */
  readonly hosts?: readonly string[];
  /** The repository of names that are a tag alone, as in layouts of other tools. */
  readonly ownRepository?: string | undefined;
  /** Where to look for what is not here; the registry is read-only then. */
  readonly upstream?: Upstream | undefined;
  /** Told whether a mirror had what was asked for. */
  readonly countMirrored?: CountMirrored;
  /** Told what is no client's fault. */
  readonly announce?: (finding: Finding) => void;
}

/**
 * A registry over a store: distribution-spec 1.1 and what its main branch adds. Reads nothing before the first request; several may
 * serve one store, and others may change it meanwhile.
 */
export function createRegistry(options: RegistryOptions): RegistryHandler {
  const room = createRoom(options);
  return async (request) => {
    let subject: RequestSubject = { endpoint: 'unknown' };
    try {
      const { route, query } = parseTarget(request.target);
      subject = toSubject(route);
      return finish(request, await answer(room, { request, query, subject }, route));
    } catch (error) {
      const refusal = findRefusal(error) ?? findDeparture(error, request);
      if (refusal === undefined || refusal.status >= 500) tell(room, error, subject);
      return finish(request, toAnswer(refusal ?? new Refusal(500, 'UNKNOWN', 'The registry could not do this: its own log says why'), subject));
    }
  };
}

/** Who goes away in the middle of a body has made no trouble that whoever runs the registry could mend. */
function findDeparture(error: unknown, { signal }: RegistryRequest): Refusal | undefined {
  if (!signal.aborted || !isToolkitError(error, 'registry/interrupted')) return undefined;
  return new Refusal(400, 'BLOB_UPLOAD_INVALID', error.message);
}

function createRoom(options: RegistryOptions): RegistryRoom {
  const { store, limits = defaultLimits, hosts = [], ownRepository, upstream, announce = () => {} } = options;
  const index = createRepositoryIndex(store, { hosts, ownRepository });
  const shelf = createManifestShelf(store, limits);
  const rules = { ...defaultRules, ...options.rules };
  const core = { store, limits, rules, index, shelf, views: createViews(index, shelf), announce };
  return {
    ...core,
    isReadOnly: options.readOnly === true || upstream !== undefined,
    desk: createUploadDesk(store),
    mirror: upstream === undefined ? undefined : createMirror(core, upstream, options.countMirrored ?? (() => {})),
  };
}

async function answer(room: RegistryRoom, ask: Ask, route: Route): Promise<RegistryResponse> {
  switch (route.kind) {
    case 'ping':
      allow(ask, 'GET', 'HEAD');
      return jsonAnswer(200, {}, ask.subject);
    case 'catalog':
      allow(ask, 'GET', 'HEAD');
      return answerCatalog(room, ask);
    case 'extensions':
      allow(ask, 'GET', 'HEAD');
      return answerExtensions(room, ask, route.repository);
    case 'tags':
      allow(ask, 'GET', 'HEAD');
      return answerTags(room, ask, route.repository);
    case 'referrers':
      allow(ask, 'GET', 'HEAD');
      return answerReferrers(room, ask, route);
    case 'blob':
      allowChanges(room, ask, ['GET', 'HEAD'], ['DELETE']);
      return answerBlob(room, ask, route);
    case 'manifest':
      allowChanges(room, ask, ['GET', 'HEAD'], ['PUT', 'DELETE']);
      return answerManifest(room, ask, route);
    case 'uploads':
      allowChanges(room, ask, [], ['POST']);
      return answerUpload(room, ask, route);
    case 'upload':
      allowChanges(room, ask, [], ['GET', 'PATCH', 'PUT', 'DELETE']);
      return answerUpload(room, ask, route);
  }
}

function allow({ request: { method } }: Ask, ...methods: readonly string[]): void {
  if (methods.includes(method)) return;
  throw new Refusal(405, 'UNSUPPORTED', `${method} means nothing here`, { headers: { Allow: methods.join(', ') } });
}

function allowChanges({ isReadOnly, mirror }: RegistryRoom, ask: Ask, reading: readonly string[], changing: readonly string[]): void {
  if (!isReadOnly || !changing.includes(ask.request.method)) return allow(ask, ...reading, ...changing);
  const why = mirror === undefined ? 'it was started with --read-only' : 'it mirrors another one';
  throw new Refusal(405, 'UNSUPPORTED', `Nothing can be pushed to or deleted from this registry: ${why}`, { headers: { Allow: reading.join(', ') } });
}

/** What all answers have. */
function finish({ method }: RegistryRequest, response: RegistryResponse): RegistryResponse {
  const headers = { 'Docker-Distribution-API-Version': 'registry/2.0', 'X-Content-Type-Options': 'nosniff', ...response.headers };
  return method === 'HEAD' ? withoutBody({ ...response, headers }) : { ...response, headers };
}

function tell({ announce }: RegistryRoom, error: unknown, { endpoint, repository, reference }: RequestSubject): void {
  const cause = error instanceof Refusal ? (error.details.cause ?? error) : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  const what = [repository, reference].filter((part) => part !== undefined).join(' ');
  announce({
    level: 'error',
    code: isToolkitError(cause) ? cause.code : 'core/bug',
    message: `Cannot answer a request for ${endpoint}${what === '' ? '' : ` ${what}`}: ${message}`,
    ...(isToolkitError(cause) && cause.hint !== undefined ? { hint: cause.hint } : {}),
  });
}
