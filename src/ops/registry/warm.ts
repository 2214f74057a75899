import { compileGlobs } from '../../buildfile/index.js';
import { mapConcurrent } from '../../bytes/index.js';
import { type BlobSink, createError, type Descriptor, type Digest } from '../../core/index.js';
import { copyGraph, findLayerPath, walkGraph } from '../../oci/index.js';
import { markMirror, openLayout } from '../../store/index.js';
import type { OpsContext } from '../context.js';
import { toAbsolute } from '../paths.js';
import { parseRemote, type RemoteReference } from '../remote-reference.js';
import type { RegistryWarmResult } from './results.js';
import { openRemote, openSource, type ShelfSource } from '../source.js';

export interface WarmOptions {
  /** `HOST/REPO:TAG` */
  readonly names: readonly string[];
  /** The mirror's folder. */
  readonly dir: string;
  /** A layout or archive whose package gets the name. */
  readonly from?: string;
  /** Only layers with files that match; the rest comes when the mirror is asked for it. */
  readonly include?: readonly string[];
}

type WarmedPackage = RegistryWarmResult['packages'][number];

/** One package, and what of it is to be brought. */
interface Warming {
  readonly name: string;
  readonly source: ShelfSource;
  readonly isWanted: ((descriptor: Descriptor) => boolean) | undefined;
}

/** Fills the folder of a mirror ahead of use. Nothing is written before all that was named has been found. */
export async function warmRegistry(options: WarmOptions, context: OpsContext): Promise<RegistryWarmResult> {
  const wanted = options.names.map((text) => ({ text, reference: parseTagged(text) }));
  if (options.from !== undefined && wanted.length > 1) throw oneFrom(options.from, wanted.length);
  const layout = await openLayout(toAbsolute(options.dir, context), { ...context, create: true });
  const found = await mapConcurrent(wanted, context.concurrency, ({ text, reference }) => find(text, reference, options, context));
  const lease = await layout.lease();
  markMirror(layout.path, wanted[0]?.reference.host ?? '');
  try {
    const packages: WarmedPackage[] = [];
    for (const { name, source, isWanted } of found) {
      const warmed = await fill(source, layout, isWanted, context);
      await layout.tag(name, source.root);
      packages.push({ name, digest: source.root.digest, ...warmed });
    }
    return { packages };
  } finally {
    lease.release();
  }
}

/** A mirror serves `HOST/REPO:TAG` as `REPO:TAG`, so that this is its name there. */
async function find(text: string, reference: TaggedReference, { from, include }: WarmOptions, context: OpsContext): Promise<Warming> {
  const source = await openFrom(from, text, reference, context);
  return { name: `${reference.repository}:${reference.tag}`, source, isWanted: await select(source, include, text, context) };
}

type TaggedReference = RemoteReference & { readonly tag: string };

function parseTagged(text: string): TaggedReference {
  const { digest, tag, ...reference } = parseRemote(text, 'warm');
  if (digest === undefined && tag !== undefined) return { ...reference, tag };
  throw createError('core/bad-reference', { message: `Cannot warm "${text}": a mirror is asked for tags`, hint: 'Write HOST/REPO:TAG' });
}

function oneFrom(from: string, count: number): Error {
  return createError('ops/bad-option', {
    message: `Cannot warm ${count} names from "${from}": its package gets one name`,
    hint: 'Name one package, or leave --from out to fetch each from its registry',
  });
}

async function openFrom(from: string | undefined, text: string, reference: RemoteReference, context: OpsContext): Promise<ShelfSource> {
  if (from === undefined) return openRemote(reference, text, context);
  const source = await openSource(from, { ...context, network: { ...context.network, names: 'local' } });
  if (source.kind === 'oci') return source;
  throw createError('format/unsupported', {
    message: `Cannot warm from "${from}": it is a bare folder`,
    hint: 'Pack it first: `modelport pack DIR -o FILE.tar`',
  });
}

/** Undefined selects everything. A pattern that matches nothing is an error: a typing mistake must not look like a mirror that is full. */
async function select(
  { root, blobs }: ShelfSource,
  include: readonly string[] | undefined,
  text: string,
  { limits }: OpsContext,
): Promise<((descriptor: Descriptor) => boolean) | undefined> {
  if (include === undefined || include.length === 0) return undefined;
  const patterns = include.map((pattern) => ({ pattern, matches: compileGlobs([pattern]) }));
  const used = new Set<string>();
  const wanted = new Set<Digest>();
  for await (const { parsed } of walkGraph(root, blobs, { limits })) {
    if (parsed.kind === 'index') continue;
    wanted.add(parsed.manifest.config.digest);
    for (const layer of parsed.manifest.layers) {
      const path = findLayerPath(layer);
      const matching = path === undefined ? [] : patterns.filter(({ matches }) => matches(path));
      for (const { pattern } of matching) used.add(pattern);
      if (matching.length > 0) wanted.add(layer.digest);
    }
  }
  const unused = include.find((pattern) => !used.has(pattern));
  if (unused === undefined) return ({ digest }) => wanted.has(digest);
  throw createError('ops/path-not-found', {
    message: `Cannot include "${unused}": no layer of "${text}" has a file that matches`,
    hint: `See \`modelport ls ${text}\`; ** crosses folders`,
  });
}

/** Manifests always; of the other blobs those that are wanted. */
async function fill(
  { root, blobs }: ShelfSource,
  layout: BlobSink,
  isWanted: ((descriptor: Descriptor) => boolean) | undefined,
  context: OpsContext,
): Promise<Pick<WarmedPackage, 'blobs' | 'bytes' | 'skipped'>> {
  const there = new Map<Digest, number>();
  const left = new Set<Digest>();
  const sink: BlobSink = {
    put: async (content, options) => {
      if (content.kind === 'blob' && isWanted?.(content.descriptor) === false) {
        const { digest, size } = content.descriptor;
        left.add(digest);
        return { digest, size, fresh: false };
      }
      const stored = await layout.put(content, options);
      there.set(stored.digest, stored.size);
      return stored;
    },
  };
  await copyGraph(root, blobs, sink, context);
  return { blobs: there.size, bytes: [...there.values()].reduce((sum, size) => sum + size, 0), skipped: left.size };
}
