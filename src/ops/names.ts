import { mapConcurrent } from '../bytes/index.js';
import { createError, type Digest, isToolkitError, parseReference, type Reference, toStoreName } from '../core/index.js';
import { clearFileCache, openLocalStore, prune as pruneLayout } from '../store/index.js';
import type { OpsContext } from './context.js';
import type { PruneResult, RmResult, TagResult } from './results.js';
import { isRemote, parseRemote, type RemoteReference } from './remote-reference.js';
import { openRemote, openSource } from './source.js';

/** A second name for a package: in the local store, or with `names: 'remote'` in its repository. */
export async function tag(options: { readonly source: string; readonly name: string }, context: OpsContext): Promise<TagResult> {
  if (context.network.names === 'remote') return tagRemote(options, context);
  const source = await openSource(options.source, { ...context, network: { ...context.network, names: 'local' } });
  if (source.kind !== 'oci' || source.from !== 'store') {
    throw createError('ops/bad-option', {
      message: `Cannot tag "${options.source}": it is not in the local store`,
      hint: `Copy it there: \`modelport copy ${options.source} ${options.name}\``,
    });
  }
  const name = toStoreName(toTagged(options.name));
  const store = await openLocalStore(context);
  const before = await store.resolve(name);
  await store.tag(name, source.root);
  return { name, digest: source.root.digest, replaced: before?.digest ?? null };
}

function toTagged(name: string): Reference & { readonly tag: string } {
  const reference = parseReference(name);
  if (reference.digest !== undefined || reference.tag === undefined)
    throw createError('core/bad-reference', { message: `Cannot tag as "${name}": a digest cannot be chosen`, hint: 'Write NAME:TAG' });
  return { ...reference, tag: reference.tag };
}

async function tagRemote(options: { readonly source: string; readonly name: string }, context: OpsContext): Promise<TagResult> {
  const source = parseRemote(options.source, 'tag');
  const { host, repository } = parseRemote(options.name, 'tag as');
  const wanted = toTagged(options.name);
  if (source.host !== host || source.repository !== repository) {
    throw createError('ops/bad-option', {
      message: `Cannot tag "${options.source}" as "${options.name}": that is another repository`,
      hint: `Copy it there: \`modelport copy ${options.source} ${options.name}\`; what the registry has is not sent again`,
    });
  }
  const { root } = await openRemote(source, options.source, context);
  const place = (await context.registries()).repository(host, repository);
  const replaced = await place.findDigest(wanted.tag);
  await place.tag(wanted.tag, root);
  return { name: toStoreName(wanted), digest: root.digest, replaced: replaced ?? null };
}

/** Takes names away; the bytes stay until `prune`, or until the registry cleans up. All names must exist, else none is removed. */
export async function rm(options: { readonly names: readonly string[] }, context: OpsContext): Promise<RmResult> {
  if (context.network.names === 'remote') return rmRemote(options.names, context);
  const store = await openLocalStore(context);
  const listed = await store.list();
  const removed = options.names.flatMap((text) => {
    const reference = parseReference(text);
    const matches = listed.filter((entry) =>
      reference.tag === undefined ? entry.descriptor.digest === reference.digest : entry.name === toStoreName(reference),
    );
    if (matches.length > 0) return matches;
    throw createError('store/name-not-found', {
      message: `Cannot remove "${text}": it is not in the local store`,
      hint: isRemote(reference) ? 'To remove it at its registry, add --remote' : '`modelport list` shows what is there',
    });
  });
  for (const { name } of removed) if (name !== undefined) await store.remove(name);
  return { removed };
}

/** A tag goes alone, a digest with all its tags. */
async function rmRemote(names: readonly string[], context: OpsContext): Promise<RmResult> {
  const found = await mapConcurrent(names, context.concurrency, async (text) => {
    const reference = parseRemote(text, 'remove');
    return { text, reference, root: (await openRemote(reference, text, context)).root };
  });
  for (const { text, reference, root } of found) {
    const place = (await context.registries()).repository(reference.host, reference.repository);
    await place.remove(reference.digest ?? reference.tag ?? 'latest').catch((error: unknown) => {
      throw explainRefusal(error, text, reference, root.digest);
    });
  }
  return { removed: found.map(({ text, root }) => ({ name: text, descriptor: root })) };
}

function explainRefusal(error: unknown, text: string, { host, repository, digest }: RemoteReference, found: Digest): unknown {
  const isRefused = isToolkitError(error, 'registry/unsupported') || isToolkitError(error, 'registry/refused');
  if (!isRefused || digest !== undefined) return error;
  return createError('registry/unsupported', {
    message: `Cannot remove "${text}": ${host} removes nothing, or not for you`,
    hint: `Whoever runs the registry can allow it. To try the package with all its tags: \`modelport rm --remote ${host}/${repository}@${found}\``,
    where: host,
    cause: error,
  });
}

/** Frees the bytes that no name reaches, and those of linked files that were fetched. Safe while others read and write. */
export async function prune(options: { readonly dryRun?: boolean }, context: OpsContext): Promise<PruneResult> {
  const dryRun = options.dryRun === true;
  const { removed, freedBytes, kept } = await pruneLayout(await openLocalStore(context), { dryRun, limits: context.limits });
  return { dryRun, removed, freedBytes: freedBytes + clearFileCache(context.home, context.limits, { dryRun }), kept };
}
