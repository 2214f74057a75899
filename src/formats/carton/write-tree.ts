import { join } from 'node:path';
import { createError, type Digest, type FileEntry, type Finding } from '../../core/index.js';
import { type TomlTable, type TomlValue, writeToml } from '../../text/index.js';
import { toAnnotations, writeMembers } from './artifact.js';
import type { CartonDocuments, CartonMembers } from './carton.js';
import { describeCartonToml } from './carton-toml.js';
import { toMember } from './copy-plan.js';
import { gatherDocuments } from './documents.js';
import { resolveMember } from './link-entries.js';
import { parseLinks } from './links.js';
import { assertPaths, bytesMember, type CartonPlan, type PlannedMember, textMember } from './member-plan.js';
import { readEntry } from './open-members.js';
import { lockPath, planPythonLock } from './python-lock.js';
import { linksName, miscFolder, modelFolder, tensorFolder, tensorIndexName, tomlName, unlisted } from './spec.js';
import { isTable } from './toml-values.js';
import { assertValid } from './validate-plan.js';
import type { CartonCopyOptions, CartonSink, CartonWritten } from './write-options.js';

export interface CartonTreeOptions extends CartonCopyOptions {
  /** Where the members lie when they are a folder on this machine, absolute: they are then read as files. */
  readonly root?: string | undefined;
}

/**
 * A folder with a carton.toml → carton. With a folder model/ it holds a carton's members as they are; without one it is the model itself, and goes
 * below model/, all but carton.toml, tensor_data/ and misc/. carton.toml stays byte for byte, MANIFEST is made anew. What breaks a rule is refused
 * before anything is written: `carton/cannot-write` with the findings.
 */
export async function writeCartonTree(members: CartonMembers, sink: CartonSink, options: CartonTreeOptions): Promise<CartonWritten> {
  const documents = await gatherDocuments(members, options);
  const layout = new TreeLayout(members, documents, options);
  const { plan, findings } = await layout.plan();
  assertPaths(plan.members, options.limits);
  await assertValid(plan, members.location, options.limits);
  return { ...(await writeMembers(plan, sink, options)), lost: [], findings };
}

class TreeLayout {
  readonly #findings: Finding[] = [];
  readonly #hasModel: boolean;
  readonly #listed: ReadonlyMap<string, Digest>;

  constructor(
    readonly members: CartonMembers,
    readonly documents: CartonDocuments,
    readonly options: CartonTreeOptions,
  ) {
    this.#listed = documents.manifest.kind === 'read' ? documents.manifest.value.digests : new Map();
    this.#hasModel = [...this.#paths(), ...this.#listed.keys()].some((path) => path.startsWith(modelFolder));
  }

  async plan(): Promise<{ readonly plan: CartonPlan; readonly findings: readonly Finding[] }> {
    const { toml } = this.documents;
    if (toml.kind !== 'read') throw unreadable(this.documents);
    const info = describeCartonToml(toml.value);
    const entries = this.members.tree.entries.filter(
      (entry) => entry.kind !== 'directory' && !unlisted.includes(entry.path) && this.#isWanted(entry.path),
    );
    const members = entries.filter(({ path }) => path !== tensorIndexName).map((entry) => this.#toMember(entry));
    const lock = this.#hasModel || info.runner?.name !== 'python' ? [] : await this.#planLock(entries);
    const plan: CartonPlan = {
      members: [...members, ...(await this.#planIndex()), ...lock],
      linked: this.#listLinked(),
      links: await this.#readAsIs(linksName),
      annotations: toAnnotations(info),
    };
    return { plan, findings: this.#findings };
  }

  #paths(): readonly string[] {
    return this.members.tree.entries.map(({ path }) => path);
  }

  /** Of a folder with model/: what a carton is made of, and what its MANIFEST listed before. */
  #isWanted(path: string): boolean {
    if (!this.#hasModel || isPlaced(path) || path.startsWith(modelFolder) || this.#listed.has(path)) return true;
    this.#findings.push({
      level: 'note',
      code: 'carton/left-out',
      message: `Left out: ${JSON.stringify(path)} lies beside model/, where a carton has no place for it`,
      where: path,
    });
    return false;
  }

  #placeOf(path: string): string {
    return this.#hasModel || isPlaced(path) ? path : modelFolder + path;
  }

  /** Below model/ links become copies, as what they lead to may lie elsewhere then. */
  #toMember(entry: FileEntry): PlannedMember {
    const place = this.#placeOf(entry.path);
    const target = this.#hasModel ? undefined : resolveMember(this.members, entry.path);
    const source = target?.kind === 'file' ? target.entry : entry;
    const member = toMember(this.members, source, place, undefined);
    if (member.kind === 'link' || this.options.root === undefined) return member;
    return { ...member, content: { kind: 'file', path: join(this.options.root, source.path), size: source.size } };
  }

  /** The index as it is, unless the format's own library could not read it: it wants one always, and `inner` in every entry. */
  async #planIndex(): Promise<readonly PlannedMember[]> {
    const { tensorIndex } = this.documents;
    if (tensorIndex.kind === 'absent') return [textMember(tensorIndexName, writeToml({ tensor: [] }))];
    const rows = tensorIndex.kind === 'read' ? tensorIndex.value.value['tensor'] : undefined;
    if (tensorIndex.kind === 'read' && Array.isArray(rows) && rows.some(lacksInner)) {
      this.#findings.push({
        level: 'note',
        code: 'carton/completed',
        message: 'Every tensor has the key "inner" now, as older readers want it',
        where: tensorIndexName,
      });
      const tensor = (rows as readonly TomlValue[]).map((row) => (lacksInner(row) ? { ...row, inner: [] } : row));
      return [textMember(tensorIndexName, writeToml({ ...tensorIndex.value.value, tensor }))];
    }
    return [bytesMember(tensorIndexName, (await this.#readAsIs(tensorIndexName)) ?? Buffer.from(writeToml({ tensor: [] })))];
  }

  async #planLock(entries: readonly FileEntry[]): Promise<readonly PlannedMember[]> {
    const { tree } = this.members;
    const parts = entries.filter(({ kind }) => kind === 'file').map(({ path }) => ({ path, content: { kind: 'entry', tree, path } as const }));
    const { text, findings } = await planPythonLock(parts, this.options.limits);
    this.#findings.push(...findings);
    return text === undefined ? [] : [textMember(modelFolder + lockPath, text)];
  }

  /** Files that only LINKS leads to stay listed. */
  #listLinked(): ReadonlyMap<string, Digest> {
    const { links } = this.documents;
    if (links.kind !== 'read') return new Map();
    const known = parseLinks(links.value).links;
    const present = new Set(this.#paths());
    return new Map([...this.#listed].filter(([path, digest]) => !present.has(path) && (known.get(digest)?.length ?? 0) > 0));
  }

  async #readAsIs(path: string): Promise<Uint8Array | undefined> {
    const found = resolveMember(this.members, path);
    return found.kind === 'file' ? readEntry(this.members, found.entry, this.options.limits.memberListBytes) : undefined;
  }
}

function isPlaced(path: string): boolean {
  return path === tomlName || path.startsWith(tensorFolder) || path.startsWith(miscFolder);
}

function lacksInner(row: TomlValue): row is TomlTable {
  return isTable(row) && row['inner'] === undefined;
}

function unreadable({ toml, members }: CartonDocuments): Error {
  const finding = toml.kind === 'broken' ? toml.finding : undefined;
  return createError('carton/cannot-write', {
    message: `Cannot pack "${members.location}" as a carton: ${finding?.message ?? `it has no ${tomlName}`}`,
    where: finding?.where ?? tomlName,
    hint: finding?.hint ?? `Write a ${tomlName}, or give --runner and --framework-version`,
    ...(finding === undefined ? {} : { findings: [finding] }),
  });
}
