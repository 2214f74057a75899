import type * as YamlModule from 'yaml';
import type { Alias, Document, Node, Pair, YAMLError } from 'yaml';
import { createError, type Limits, lineAndColumn } from '../core/index.js';
import { assertPersonText, type KeyPath, type Located } from '../text/index.js';

type Yaml = typeof YamlModule;

interface Walk {
  readonly yaml: Yaml;
  readonly document: Document;
  readonly offsets: Map<string, number>;
  readonly depthLimit: number;
  /** Count down. An alias counts as what it stands for, so that a few lines cannot unfold into millions; finding its anchor reads the whole document. */
  nodesLeft: number;
  aliasesLeft: number;
  refuse(reason: string, node: unknown): Error;
}

const mostNodes = 100_000;
const mostAliases = 100;

/**
 * YAML 1.2, core schema → plain data: one document, no tags of its own, no merge keys, each key once and text; keys without value are left out.
 * Nesting is bounded by `limits.jsonDepth`, aliases by what they unfold to. Throws `buildfile/syntax` with line and column.
 */
export async function parseYaml(text: string, file: string, limits: Limits): Promise<Located> {
  assertPersonText(text, file, limits);
  const yaml = await import('yaml');
  const refuse = (reason: string, offset: number): Error => {
    const place = lineAndColumn(text, offset);
    return createError('buildfile/syntax', {
      message: `Cannot read "${file}" as YAML: ${reason} (line ${place.replace(':', ', column ')})`,
      where: `${file}:${place}`,
    });
  };
  const document = yaml.parseDocument(text, { schema: 'core', merge: false, uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) throw refuse(explain(problem), problem.pos[0]);
  const offsets = new Map<string, number>();
  const walk: Walk = {
    yaml,
    document,
    offsets,
    depthLimit: limits.jsonDepth,
    nodesLeft: mostNodes,
    aliasesLeft: mostAliases,
    refuse: (reason, node) => refuse(reason, yaml.isNode(node) ? (node.range?.[0] ?? 0) : 0),
  };
  const value = toPlain(walk, document.contents, []);
  return { value, locate: (path) => locate(path, offsets, text, file) };
}

function explain(problem: YAMLError): string {
  if (problem.code === 'RESOURCE_EXHAUSTION') return 'it is nested too deep';
  if (problem.code === 'MULTIPLE_DOCS') return 'it holds more than one document';
  return problem.message.replace(/\.+$/, '');
}

function toPlain(walk: Walk, node: Node | null | undefined, path: KeyPath): unknown {
  if (--walk.nodesLeft < 0) throw walk.refuse(`it holds more than ${mostNodes} values, aliases unfolded`, node);
  if (path.length > walk.depthLimit) throw walk.refuse(`it is nested deeper than ${walk.depthLimit} levels`, node);
  const { yaml } = walk;
  if (yaml.isAlias(node)) return toPlain(walk, resolveAlias(walk, node), path);
  if (yaml.isScalar(node)) return node.value;
  if (yaml.isSeq(node)) {
    return node.items.map((item, index) => {
      mark(walk, [...path, index], item);
      return toPlain(walk, item as Node, [...path, index]);
    });
  }
  if (yaml.isMap(node)) return toTable(walk, node.items, path);
  return undefined;
}

function resolveAlias(walk: Walk, alias: Alias): Node | undefined {
  if (--walk.aliasesLeft < 0) throw walk.refuse(`it uses more than ${mostAliases} aliases`, alias);
  return alias.resolve(walk.document);
}

function toTable(walk: Walk, pairs: readonly Pair[], path: KeyPath): Record<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const { key, value } of pairs) {
    const name = walk.yaml.isScalar(key) ? String(key.value) : undefined;
    if (name === undefined) throw walk.refuse('a key is not text', key);
    if (entries.has(name)) throw walk.refuse(`the key "${name.slice(0, 80)}" stands twice`, key);
    mark(walk, [...path, name], key);
    entries.set(name, toPlain(walk, value as Node | null, [...path, name]));
  }
  return Object.fromEntries([...entries].filter(([, value]) => value !== null && value !== undefined));
}

function mark(walk: Walk, path: KeyPath, node: unknown): void {
  const offset = walk.yaml.isNode(node) ? node.range?.[0] : undefined;
  if (offset !== undefined) walk.offsets.set(JSON.stringify(path), offset);
}

function locate(path: KeyPath, offsets: ReadonlyMap<string, number>, text: string, file: string): string {
  for (let length = path.length; length > 0; length--) {
    const offset = offsets.get(JSON.stringify(path.slice(0, length)));
    if (offset !== undefined) return `${file}:${lineAndColumn(text, offset)}`;
  }
  return file;
}
