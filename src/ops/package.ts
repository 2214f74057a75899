import { createError, type Finding, type ModelPackage } from '../core/index.js';
import { detectFormat } from '../formats/index.js';
import type { OpsContext } from './context.js';
import { describeFolder } from './folder.js';
import { describeForeign } from './foreign.js';
import type { FilesPackage } from './package-file.js';
import { type OpenedSource, openSource } from './source.js';

/** A package that has been opened and read. */
export interface OpenedPackage {
  readonly source: OpenedSource;
  readonly pkg: ModelPackage;
  /** False for an image or artifact that is no model package. */
  readonly known: boolean;
}

/** Location → package: a format's own reading, what `pack` would make of a bare folder, or a foreign artifact named for what it is. */
export async function openPackage(location: string, context: OpsContext): Promise<OpenedPackage> {
  return readSource(await openSource(location, context), context);
}

export async function readSource(source: OpenedSource, context: OpsContext): Promise<OpenedPackage> {
  if (source.kind === 'folder') return { source, pkg: (await describeFolder(source, context)).pkg, known: true };
  const detected = await detectFormat(source);
  if (detected !== undefined) return { source, pkg: await detected.reader.read(source, { limits: context.limits }), known: true };
  if (source.kind === 'files') throw unknownFiles(source);
  return { source, pkg: await describeForeign(source, context), known: false };
}

export function unknownFiles({ location, from }: FilesPackage): Error {
  return createError('format/unknown', {
    message: `Cannot read "${location}": it is a ${from === 'folder' ? 'folder' : 'zip'} of no format that modelport knows`,
    hint: 'A carton holds a carton.toml and a MANIFEST',
  });
}

/** The same findings without the ones that say the same twice. */
export function distinct(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter((finding) => {
    const key = `${finding.code}\0${finding.message}\0${finding.where ?? ''}`;
    return !seen.has(key) && seen.add(key);
  });
}
