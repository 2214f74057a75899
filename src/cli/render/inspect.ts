import type { InspectResult, PartResult } from '../../ops/index.js';
import { plainStyle, type Style } from '../terminal.js';
import { renderFindings } from './findings.js';
import { renderIo, renderRun, renderTensors } from './inspect-details.js';
import { renderMarkdown } from './markdown.js';
import { type Render, shown } from './rendered.js';
import { type Column, toFacts, toTable } from './table.js';
import { shorten, toCount, toShellWord, toShortDigest, toSize } from './text.js';
import { toFormat } from './totals.js';

/** What a person wants to know first stands first; lists that could fill the screen are folded. */
export const renderInspect: Render<InspectResult> = (result, style) =>
  shown([
    ...renderTitle(result, style),
    ...section('Weights', renderWeights(result, style), style),
    ...section(`Files (${toCount(result.parts.length)}, ${toSize(sumOf(result.parts))})`, renderParts(result, style), style),
    ...section(`Linked (${toCount(result.linked?.length ?? 0)})`, renderLinked(result, style), style),
    ...section('Packages', renderEntries(result, style), style),
    ...section('Inputs and outputs', renderIo(result.io, style), style),
    ...section('Run', renderRun(result.run, style), style),
    ...section('Mountable', renderMounts(result, style), style),
    ...section('Description', renderDescription(result, style), style),
    ...section(`Tensors (${toCount(result.tensors?.length ?? 0)})`, renderTensors(result.tensors ?? [], style), style),
    ...section('Findings', renderFindings(result.findings, style, '  '), style),
  ]);

function section(title: string, lines: readonly string[], style: Style): readonly string[] {
  return lines.length === 0 ? [] : ['', style.color.bold(title), ...lines];
}

function sumOf(parts: readonly PartResult[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}

function renderTitle(result: InspectResult, style: Style): string[] {
  const { identity } = result;
  const name = [identity.title ?? identity.name ?? result.location, identity.version].filter(Boolean).join(' ');
  const facts = toFacts(
    [
      ['location', result.from === undefined ? result.location : `${result.location} (${result.from})`],
      ['digest', result.digest ?? undefined],
      ['model hash', result.modelHash ?? undefined],
      ['name', identity.title === undefined ? undefined : identity.name],
      ['family', identity.family],
      ['vendor', identity.vendor],
      ['authors', identity.authors?.join(', ')],
      ['licenses', identity.licenses?.join(', ')],
      ['description', toSummary(result, style)],
      ['homepage', identity.homepage],
      ['repository', identity.repository],
      ['documentation', identity.documentation],
      ['datasets', identity.datasets?.join(', ')],
      ['revision', identity.revision],
      ['created', identity.createdAt],
      ['capabilities', toCapabilities(result.capabilities)],
      ['platforms', toPlatforms(result, style)],
      ['encrypted', result.encrypted ? 'yes' : undefined],
    ],
    style,
  );
  return [`${style.color.bold(name)} ${style.color.dim(`· ${toFormat(result)}`)}`, ...facts];
}

const factWidth = 17;

/** What the package says in one line, else how its description begins. */
function toSummary({ identity, extra }: InspectResult, style: Style): string | undefined {
  const { shortDescription } = extra;
  const text = toText(typeof shortDescription === 'string' ? shortDescription : (identity.description ?? ''));
  const line = text.includes('\n') ? renderMarkdown(text, plainStyle).lines[0] : text;
  return line === undefined || style.width === Number.POSITIVE_INFINITY ? line : shorten(line, style.width - factWidth);
}

/** Line breaks and tabs arrive spelled out. */
function toText(escaped: string): string {
  return escaped.replaceAll('\\u{d}\\u{a}', '\n').replaceAll('\\u{a}', '\n').replaceAll('\\u{9}', '\t').trim();
}

/** Of a text that the one line does not hold. */
function renderDescription(result: InspectResult, style: Style): string[] {
  const text = toText(result.identity.description ?? '');
  const summary = toSummary(result, style);
  const { lines, isCut } = renderMarkdown(text, style, '  ');
  if (text === summary || (lines.length === 1 && lines[0]?.trim() === summary)) return [];
  return [...lines, ...(isCut ? [`  … \`modelport inspect ${toShellWord(result.location)} --json\` has all of it`] : [])];
}

function toPlatforms({ platform }: InspectResult, style: Style): string | undefined {
  if (platform === undefined) return undefined;
  const { required, host, fits } = platform;
  const here = host === null ? 'this machine has no name for its platform' : `this is ${host}${fits ? '' : ', which does not fit'}`;
  const verdict = fits ? style.color.green(here) : style.color.yellow(here);
  return `${required.join(', ')} (${verdict})`;
}

function toCapabilities(capabilities: object | undefined): string | undefined {
  return Object.entries(capabilities ?? {})
    .map(([name, value]) => `${toWords(name)} ${Array.isArray(value) ? value.join('+') : String(value)}`)
    .join(', ');
}

/** `inputTypes` → `input types` */
function toWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function renderWeights({ weights }: InspectResult, style: Style): string[] {
  const { format, architecture, parameters, paramSize, precision, quantization, tensors } = weights;
  const size = parameters === undefined ? paramSize : `${toCount(parameters)}${paramSize === undefined ? '' : ` (${paramSize})`}`;
  return toFacts(
    [
      ['format', format],
      ['architecture', architecture],
      ['parameters', size],
      ['precision', precision],
      ['quantization', quantization],
      ['tensors', tensors === undefined ? undefined : toCount(tensors)],
    ],
    style,
  );
}

/** Of an index: each entry with the digest by which it can be reached. */
function renderEntries({ extra }: InspectResult, style: Style): string[] {
  const entries = (extra['entries'] ?? []) as readonly {
    readonly name: string | null;
    readonly digest: string;
    readonly mediaType: string;
    readonly artifactType?: string;
    readonly size: number;
  }[];
  const columns: readonly Column[] = [{ title: 'NAME' }, { title: 'SIZE', align: 'right' }, { title: 'TYPE' }, { title: 'DIGEST' }];
  return toTable(
    columns,
    entries.map(({ name, size, artifactType, mediaType, digest }) => [name ?? '-', toSize(size), artifactType ?? mediaType, digest]),
    style,
  );
}

const mostParts = 30;

/** Addresses without their query, which may be a secret. */
function renderLinked({ linked = [] }: InspectResult, style: Style): string[] {
  const rows = linked
    .slice(0, mostParts)
    .map(({ role, digest, path, urls }) => [role, toShortDigest(digest), path, urls[0]?.replace(/\?.*$/s, '') ?? '-']);
  const columns: readonly Column[] = [
    { title: 'ROLE' },
    { title: 'DIGEST', paint: style.color.dim },
    { title: 'PATH', shrinks: true },
    { title: 'URL', shrinks: true },
  ];
  const hidden = linked.length - rows.length;
  return rows.length === 0 ? [] : [...toTable(columns, rows, style, '  '), ...(hidden > 0 ? [`  … and ${toCount(hidden)} more`] : [])];
}

function renderParts({ parts, location }: InspectResult, style: Style): string[] {
  const columns: readonly Column[] = [
    { title: 'ROLE' },
    { title: 'SIZE', align: 'right' },
    { title: 'DIGEST', paint: style.color.dim },
    { title: 'PATH', shrinks: true },
  ];
  const rows = parts.slice(0, mostParts).map(({ role, size, digest, path }) => [role, toSize(size), toShortDigest(digest), path]);
  const hidden = parts.length - rows.length;
  const more = hidden === 0 ? [] : [`  … and ${toCount(hidden)} more, see \`modelport ls ${toShellWord(location)}\``];
  return [...toTable(columns, rows, style, '  '), ...more];
}

function renderMounts({ mountable = [] }: InspectResult, style: Style): string[] {
  const { green, yellow } = style.color;
  const columns: readonly Column[] = [
    { title: '' },
    { title: '', paint: (text) => (text.trim() === 'yes' ? green(text) : yellow(text)) },
    { title: '' },
  ];
  return toTable(
    columns,
    mountable.map(({ runtime, yes, reason }) => [runtime, yes ? 'yes' : 'no', reason]),
    style,
    '  ',
  );
}
