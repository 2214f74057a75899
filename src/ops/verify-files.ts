import { expectStream, sumSizes } from '../bytes/index.js';
import { type Finding, isToolkitError, type LinkedPart } from '../core/index.js';
import { detectFormat, verifyCarton } from '../formats/index.js';
import type { OpsContext } from './context.js';
import { openLinked } from './linked-files.js';
import { readSource, unknownFiles } from './package.js';
import type { FilesPackage } from './package-file.js';
import type { VerifyResult } from './results.js';
import type { ShelfSource } from './source.js';

/** Every byte of a package of files against the hashes that it carries. Linked files are named, and with `links` fetched and hashed. */
export async function verifyFiles(source: FilesPackage, links: boolean, context: OpsContext): Promise<VerifyResult> {
  expectStream(sumSizes(source.tree));
  const detected = await detectFormat(source);
  if (detected === undefined) throw unknownFiles(source);
  return verifyMembers(source, links, false, context);
}

/** Of a carton in a store or registry whose blobs were hashed: what MANIFEST says of them, and the members that share a blob. */
export function verifyArtifact(source: ShelfSource, links: boolean, context: OpsContext): Promise<VerifyResult> {
  return verifyMembers(source, links, true, context);
}

async function verifyMembers(
  source: FilesPackage | ShelfSource,
  links: boolean,
  blobsAreProven: boolean,
  context: OpsContext,
): Promise<VerifyResult> {
  const { limits, progress, concurrency, signal } = context;
  const { files, bytes, problems } = await verifyCarton(source, { limits, progress, concurrency, signal, blobsAreProven });
  const fetched = links ? await verifyLinks((await readSource(source, context)).pkg.linked ?? [], context) : { files: 0, bytes: 0, problems: [] };
  const all = [...(links ? problems.filter(({ code }) => code !== 'carton/linked-only') : problems), ...fetched.problems];
  return {
    ok: all.every(({ level }) => level !== 'error'),
    checked: { files: files + fetched.files, bytes: bytes + fetched.bytes },
    problems: all,
    signatures: [],
  };
}

async function verifyLinks(linked: readonly LinkedPart[], context: OpsContext): Promise<{ files: number; bytes: number; problems: Finding[] }> {
  const result = { files: 0, bytes: 0, problems: [] as Finding[] };
  for (const part of linked) {
    try {
      result.bytes += (await openLinked(part, context)).size;
      result.files++;
    } catch (error) {
      if (!isToolkitError(error) || error.code === 'core/cancelled') throw error;
      const { code, message, hint } = error;
      result.problems.push({ level: 'error', code, message, where: part.path, ...(hint === undefined ? {} : { hint }) });
    }
  }
  return result;
}
