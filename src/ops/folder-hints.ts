import { detectLicense, type Hints, parseCartonHints, parseMlarchiveHints, parseMlmodel, parseReadme } from '../buildfile/index.js';
import { collect, openPart } from '../bytes/index.js';
import type { Description, Finding, Limits, Part } from '../core/index.js';
import type { OpsContext } from './context.js';

/** What files that were not written for modelport let us know about a folder. */
export type FolderHints = Hints;

interface HintFile {
  /** At the top of the folder. */
  readonly name: RegExp;
  readonly parse: (text: string, file: string, limits: Limits) => Hints | Promise<Hints>;
}

const nothing: Hints = { identity: {}, capabilities: {}, weights: {}, inputs: [], outputs: [], run: {}, findings: [] };

/** Later ones win: what describes a package wins over prose, and the text of a licence over its name elsewhere. */
const hintFiles: readonly HintFile[] = [
  { name: /^readme(\.md|\.markdown|\.txt)?$/i, parse: parseReadme },
  { name: /^MLmodel$/, parse: parseMlmodel },
  { name: /^manifest\.json$/, parse: parseMlarchiveHints },
  { name: /^carton\.toml$/, parse: parseCartonHints },
  { name: /^(licen[cs]e|copying)(\.(md|txt))?$/i, parse: parseLicense },
];

function parseLicense(text: string): Hints {
  const license = detectLicense(text);
  return license === undefined ? nothing : { ...nothing, identity: { licenses: [license] } };
}

export async function readHints(parts: readonly Part[], context: OpsContext): Promise<FolderHints> {
  let hints = nothing;
  for (const { name, parse } of hintFiles) {
    const part = parts.find(({ path }) => name.test(path));
    if (part !== undefined) hints = merge(hints, await parse(await readStart(part, context.limits), part.path, context.limits));
  }
  return hints;
}

function merge(a: Hints, b: Hints): Hints {
  const later = <T>(first: readonly T[], second: readonly T[]) => (second.length > 0 ? second : first);
  const weights: Description['weights'] = { ...a.weights, ...b.weights };
  const findings: readonly Finding[] = [...a.findings, ...b.findings];
  return {
    identity: { ...a.identity, ...b.identity },
    capabilities: { ...a.capabilities, ...b.capabilities },
    weights,
    inputs: later(a.inputs, b.inputs),
    outputs: later(a.outputs, b.outputs),
    run: { ...a.run, ...b.run },
    findings,
  };
}

async function readStart(part: Part, limits: Limits): Promise<string> {
  const end = Math.min(part.size, limits.personFileBytes);
  return new TextDecoder().decode(await collect(await openPart(part.content, { start: 0, end }), limits.personFileBytes, part.path));
}
