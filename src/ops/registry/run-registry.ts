import { once, setMaxListeners } from 'node:events';
import { createMetrics, createRegistry, listen, type RegistryListener, type Upstream } from '../../registry/server/index.js';
import { type LayoutRegistryStore, markMirror } from '../../store/index.js';
import type { OpsContext } from '../context.js';
import { toAbsolute } from '../paths.js';
import type { RegistryServeResult } from './results.js';
import { listChores } from './chores.js';
import { createFrontDoor } from './front-door.js';
import { startHousekeeping } from './housekeeping.js';
import { openLogFile } from './log-file.js';
import { openServedStore } from './open-registry-store.js';
import { findOwnRepository } from './own-repository.js';
import { createPortFile, type PortFile } from './port-file.js';
import type { ServeOptions } from './serve-options.js';
import { listDangers, parseServeOptions, type ServeSettings } from './serve-settings.js';
import { withServerLock, withTemporaryFolder } from './served-folder.js';
import { readTlsFiles } from './tls-files.js';
import { openMirrored } from './upstream.js';

/** What is under way when the end comes may go on for so long. */
const drainMs = 8000;

interface Serving {
  readonly store: LayoutRegistryStore;
  readonly options: ServeOptions;
  readonly settings: ServeSettings;
  readonly portFile: PortFile | undefined;
  readonly ownRepository: string | undefined;
}

type Tell = (started: RegistryServeResult) => void;

/** Serves until the signal of the context comes, and puts everything away. `tell` hears where, once it answers. */
export async function runRegistry(options: ServeOptions, context: OpsContext, tell: Tell): Promise<void> {
  const settings = parseServeOptions(options);
  const portFile = options.portFile === undefined ? undefined : createPortFile(toAbsolute(options.portFile, context));
  const serveFolder = async (dir: string | undefined) => {
    const store = await openServedStore(dir, context, settings.writes);
    const ownRepository = findOwnRepository(store.path, store);
    const serve = () => serveStore({ store, options, settings, portFile, ownRepository }, context, tell);
    await (settings.writes ? withServerLock(store.path, serve, context.signal) : serve());
  };
  await (options.tmp === true ? withTemporaryFolder(context, serveFolder) : serveFolder(options.dir));
}

async function serveStore(serving: Serving, context: OpsContext, tell: Tell): Promise<void> {
  const { store, settings } = serving;
  if (settings.upstream !== undefined) markMirror(store.path, settings.upstream.text);
  const log = serving.options.accessLog === undefined ? undefined : await openLogFile(serving.options.accessLog, context);
  // What is fetched for somebody goes on while the server waits for what is under way.
  const lifetime = new AbortController();
  // Every fetch listens to it, and there is no limit to how many are under way.
  setMaxListeners(0, lifetime.signal);
  try {
    const upstream = settings.upstream === undefined ? undefined : await openMirrored(settings.upstream, lifetime.signal, context);
    const { listener, onCollected, drain } = await open(serving, upstream, log?.stream, context);
    const chores = settings.writes ? listChores(store, settings, context, onCollected) : [];
    const house = startHousekeeping(chores, context.announce);
    try {
      const started = toResult(listener, serving);
      serving.portFile?.write(started.address);
      tell(started);
      await untilAborted(context.signal);
      serving.portFile?.remove();
    } finally {
      await Promise.all([drain(), house.stop()]);
    }
  } finally {
    lifetime.abort();
    await log?.close();
  }
}

interface Opened {
  readonly listener: RegistryListener;
  readonly onCollected: () => void;
  readonly drain: () => Promise<void>;
}

async function open(
  { store, options, settings, ownRepository }: Serving,
  upstream: Upstream | undefined,
  log: NodeJS.WritableStream | undefined,
  context: OpsContext,
): Promise<Opened> {
  const state = { isEnding: false, countConnections: () => 0 };
  const metrics = createMetrics({ countConnections: () => state.countConnections(), countUploads: () => store.countUploads() });
  const registry = createRegistry({
    store,
    limits: context.limits,
    readOnly: options.readOnly === true,
    hosts: options.serveHosts ?? [],
    ownRepository,
    upstream,
    countMirrored: (outcome) => metrics.countMirror(outcome),
    announce: (finding) => context.announce([finding]),
  });
  const findTrouble = async () => {
    if (state.isEnding) return 'it is about to end';
    store.readRoots();
    return undefined;
  };
  const handler = await createFrontDoor(registry, { options, settings, sources: { metrics, findTrouble, log } }, context);
  context.announce(listDangers(options, settings));
  const listener = await listen(handler, {
    address: settings.listen,
    tls: readTlsFiles(options, context),
    announce: (message) => context.announce([{ level: 'warning', code: 'registry/server', message }]),
  });
  state.countConnections = () => listener.countConnections();
  return {
    listener,
    onCollected: () => metrics.countCollection(),
    drain: () => {
      state.isEnding = true;
      return listener.close(drainMs);
    },
  };
}

function toResult({ url }: RegistryListener, { store, options, settings, ownRepository }: Serving): RegistryServeResult {
  const reading = options.anonymousPull === true ? 'write' : 'all';
  return {
    address: url.slice(url.indexOf('//') + 2),
    url,
    dir: store.path,
    repository: ownRepository ?? null,
    readOnly: options.readOnly === true || settings.upstream !== undefined,
    mirror: settings.upstream?.text ?? null,
    auth: settings.isGuarded ? reading : 'none',
  };
}

async function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return;
  await (signal === undefined ? new Promise(() => {}) : once(signal, 'abort'));
}
