import { type Digest, type Finding, isDigest } from '../../core/index.js';
import { type TomlValue, writeToml } from '../../text/index.js';
import type { Links, TomlDocument } from './carton.js';
import { linksName } from './spec.js';
import { isTable } from './toml-values.js';

export interface ParsedLinks {
  readonly links: Links;
  /** Errors `carton/bad-links`, each with its place. */
  readonly problems: readonly Finding[];
}

/** Nobody reads more, and finding each place takes time. */
export const mostProblems = 100;

/** LINKS → URLs by digest. What is malformed is left out and said; no URL is judged here. */
export function parseLinks(document: TomlDocument): ParsedLinks {
  const { value } = document;
  const links = new Map<Digest, readonly string[]>();
  const problems: Finding[] = [];
  const say = (message: string, path: readonly string[]) => {
    if (problems.length >= mostProblems) return;
    problems.push({ level: 'error', code: 'carton/bad-links', message: `Cannot use ${linksName}: ${message}`, where: document.locate(path) });
  };
  if (value['version'] !== 1n) say(`expected version = 1, found ${show(value['version'])}`, ['version']);
  const urls = value['urls'];
  if (!isTable(urls)) say(`expected a table [urls], found ${show(urls)}`, ['urls']);
  for (const [hex, list] of isTable(urls) ? Object.entries(urls) : []) {
    const digest = `sha256:${hex.toLowerCase()}`;
    const texts = Array.isArray(list) ? (list as readonly TomlValue[]).filter((url) => typeof url === 'string') : [];
    if (!isDigest(digest)) say(`${JSON.stringify(hex.slice(0, 80))} is no SHA-256 of 64 hex digits`, ['urls', hex]);
    else if (!Array.isArray(list) || texts.length !== list.length) say(`expected a list of URLs in quotes for ${hex}`, ['urls', hex]);
    else links.set(digest, [...(links.get(digest) ?? []), ...texts]);
  }
  return { links, problems };
}

function show(value: TomlValue | undefined): string {
  if (value === undefined) return 'none';
  return typeof value === 'bigint' || typeof value === 'number' || typeof value === 'string' ? JSON.stringify(String(value)) : 'something else';
}

/** The text of LINKS, sorted by hash. */
export function writeLinks(links: Links): string {
  const rows = [...links].map(([digest, urls]) => [digest.slice('sha256:'.length), urls] as const).sort(([one], [other]) => (one < other ? -1 : 1));
  return writeToml({ version: 1n, urls: Object.fromEntries(rows) });
}
