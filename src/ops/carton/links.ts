import { listLinkedFiles, readDocuments } from '../../formats/index.js';
import type { OpsContext } from '../context.js';
import { checkLinks } from '../linked-files.js';
import type { CartonLinksResult } from '../results.js';
import { openSource } from '../source.js';
import { assertCarton, isCarton } from './is-carton.js';

/** Fetches and hashes what every URL serves, and keeps nothing. Files that are inside are checked too: their links may stay behind. */
export async function checkCartonLinks(options: { readonly location: string }, context: OpsContext): Promise<CartonLinksResult> {
  const source = await openSource(options.location, context);
  assertCarton(options.location, await isCarton(source), 'check the links of');
  if (source.kind === 'folder') return { ok: true, links: [] };
  const linked = listLinkedFiles(await readDocuments(source, { limits: context.limits }));
  const links = await checkLinks(linked, context);
  const good = new Set(links.flatMap(({ path, ok }) => (ok ? [path] : [])));
  return { ok: linked.every(({ path }) => good.has(path)), links };
}
