import type { OpsContext } from '../context.js';
import { checkLinks } from '../linked-files.js';
import { readSource } from '../package.js';
import type { CartonLinksResult } from '../results.js';
import { openSource } from '../source.js';
import { assertCarton } from './copy-carton.js';

/** Fetches and hashes what every URL serves, and keeps nothing. Files that are inside are checked too: their links may stay behind. */
export async function checkCartonLinks(options: { readonly location: string }, context: OpsContext): Promise<CartonLinksResult> {
  const { pkg } = await readSource(await openSource(options.location, context), context);
  assertCarton(options.location, pkg.format === 'carton', 'check the links of');
  const links = await checkLinks(pkg.linked ?? [], context);
  const paths = new Set(links.map(({ path }) => path));
  const ok = [...paths].every((path) => links.some((link) => link.path === path && link.ok));
  return { ok, links };
}
