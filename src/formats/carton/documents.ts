import type { Finding, Limits, PackageSource, ReadOptions } from '../../core/index.js';
import { parseTypedToml } from '../../text/index.js';
import type { CartonDocuments, CartonMembers, Document, Manifest, TomlDocument } from './carton.js';
import { resolveMember } from './link-entries.js';
import { parseManifest } from './manifest.js';
import { isWrongData, openMembers, readEntry } from './open-members.js';
import { linksName, manifestName, tensorIndexName, tomlName } from './spec.js';

/** The documents of a carton. Wrong content makes a document `broken`; only the disk, the network and a container that cannot be opened throw. */
export async function readDocuments(source: PackageSource, options: ReadOptions): Promise<CartonDocuments> {
  return gatherDocuments(await openMembers(source, options), options);
}

/** The same of members that are open already. */
export async function gatherDocuments(members: CartonMembers, { limits }: ReadOptions): Promise<CartonDocuments> {
  const [toml, manifest, links, tensorIndex] = await Promise.all([
    readCartonToml(members, limits),
    readManifest(members, limits),
    readToml(members, linksName, 'carton/bad-links', limits.memberListBytes, limits),
    readToml(members, tensorIndexName, 'carton/bad-tensor-index', limits.memberListBytes, limits),
  ]);
  return { members, toml, manifest, links, tensorIndex, limits };
}

export async function readCartonToml(members: CartonMembers, limits: Limits): Promise<Document<TomlDocument>> {
  return readToml(members, tomlName, 'carton/bad-toml', limits.personFileBytes, limits);
}

async function readManifest(members: CartonMembers, limits: Limits): Promise<Document<Manifest>> {
  return readDocument(members, manifestName, 'carton/bad-manifest', limits.memberListBytes, (bytes) => ({
    kind: 'read',
    text: Buffer.from(bytes).toString('utf8'),
    value: parseManifest(bytes, limits),
  }));
}

async function readToml(members: CartonMembers, path: string, code: string, limit: number, limits: Limits): Promise<Document<TomlDocument>> {
  return readDocument(members, path, code, limit, (bytes) => {
    const text = decode(bytes);
    if (text === undefined) return broken(code, `Cannot read ${JSON.stringify(path)}: it is not UTF-8`, path);
    return { kind: 'read', text, value: parseTypedToml(text, path, { ...limits, personFileBytes: limit }) };
  });
}

async function readDocument<T>(
  members: CartonMembers,
  path: string,
  code: string,
  limit: number,
  parse: (bytes: Uint8Array) => Document<T>,
): Promise<Document<T>> {
  const found = resolveMember(members, path);
  if (found.kind === 'absent') return { kind: 'absent' };
  if (found.kind === 'broken') return broken(code, `Cannot read ${JSON.stringify(path)}: ${found.reason}`, path);
  return attempt(path, code, async () => parse(await readEntry(members, found.entry, limit)));
}

async function attempt<T>(path: string, code: string, work: () => Promise<Document<T>>): Promise<Document<T>> {
  try {
    return await work();
  } catch (error) {
    if (!isWrongData(error)) throw error;
    return broken(code, error.message, error.where ?? path, error.hint);
  }
}

function broken(code: string, message: string, where: string, hint?: string): { readonly kind: 'broken'; readonly finding: Finding } {
  return { kind: 'broken', finding: { level: 'error', code, message, where, ...(hint === undefined ? {} : { hint }) } };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
