import { mkdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { collect, fromFile, isSystemError, replaceFile, toIoError, withLock } from '../../../bytes/index.js';
import { createError, isJsonObject, isToolkitError, type JsonObject, type Limits, parseJson } from '../../../core/index.js';
import type { Credentials } from './auth.js';
import { parseAuthEntry } from './auth-entry.js';
import { isKeyOf, listServerNames } from './host-names.js';

/** A configuration file of docker, or podman's auth.json, which has the same form. */
export interface ConfigFile {
  readonly path: string;
  readonly fields: JsonObject;
}

/** An empty one when there is no file. Throws `registry/credentials` that names file and line and quotes nothing. */
export async function readConfigFile(path: string, limits: Limits): Promise<ConfigFile> {
  try {
    return { path, fields: parseFields(await readBounded(path, limits), path, limits) };
  } catch (error) {
    if (isToolkitError(error, 'bytes/not-found')) return { path, fields: {} };
    throw toCredentialsError(error, 'read', path);
  }
}

async function readBounded(path: string, limits: Limits): Promise<Uint8Array> {
  let stat;
  try {
    stat = statSync(path);
  } catch (error) {
    throw toIoError(error, 'read', path);
  }
  // /dev/null is how people say that there are none.
  if (stat.isCharacterDevice()) return new Uint8Array(0);
  if (!stat.isFile()) throw unusable(path, 'it is no file', 'read');
  return collect(fromFile(path, { start: 0, end: limits.personFileBytes + 1 }), limits.personFileBytes, path);
}

function parseFields(bytes: Uint8Array, path: string, limits: Limits): JsonObject {
  if (Buffer.from(bytes).toString('latin1').trim() === '') return {};
  const fields = parseJson(bytes, path, { bytes: limits.personFileBytes, depth: limits.jsonDepth });
  if (!isJsonObject(fields)) throw unusable(path, 'expected a JSON object', 'read');
  return fields;
}

/**
 * Rewrites the file by what `change` makes of its fields, alone among all processes of modelport. Field order stays. A link is
 * followed; the file is readable for its owner only, and so are folders that are made for it.
 */
export async function changeConfigFile(path: string, limits: Limits, change: (fields: JsonObject) => JsonObject): Promise<void> {
  try {
    const target = followLinks(path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    await withLock(`${target}.modelport-lock`, async () => {
      const fields = change((await readConfigFile(target, limits)).fields);
      replaceFile(target, `${JSON.stringify(fields, undefined, '\t')}\n`, 0o600);
    });
  } catch (error) {
    throw toCredentialsError(error, 'write', path);
  }
}

/** Where a path leads in the end, also when nothing is there yet. */
function followLinks(path: string, depth = 0): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isSystemError(error, 'ENOENT') || depth > 40) throw toIoError(error, 'write', path);
  }
  try {
    return followLinks(resolve(dirname(path), readlinkSync(path)), depth + 1);
  } catch (error) {
    if (isSystemError(error, 'ENOENT') || isSystemError(error, 'EINVAL')) return path;
    throw error;
  }
}

/** The suffixes of the helpers that are asked for this host, in their order. */
export function listHelperSuffixes({ fields, path }: ConfigFile, host: string): readonly unknown[] {
  const own = listMatches(toObject(fields['credHelpers'], 'credHelpers', path), host).map(([, suffix]) => suffix);
  return [...own.slice(0, 1), fields['credsStore']].filter((suffix) => suffix !== undefined && suffix !== '');
}

/** The login that `auths` holds itself. */
export function findStoredLogin(file: ConfigFile, host: string): Credentials | undefined {
  for (const [key, entry] of listLogins(file, host)) {
    const credentials = parseAuthEntry(entry, key, file.path);
    if (credentials !== undefined) return credentials;
  }
  return undefined;
}

/** Keys and values of `auths`, in the order in which they count. */
export function listLogins({ fields, path }: ConfigFile, host: string): readonly (readonly [string, unknown])[] {
  return listMatches(toObject(fields['auths'], 'auths', path), host);
}

/** Of one table, what is for this host: first what is written exactly as we would. */
export function listMatches(table: JsonObject, host: string): readonly (readonly [string, unknown])[] {
  const names = listServerNames(host);
  const rank = (key: string) => (names.includes(key) ? names.indexOf(key) : names.length);
  return Object.entries(table)
    .filter(([key]) => isKeyOf(key, host))
    .sort(([a], [b]) => rank(a) - rank(b));
}

export function toObject(value: unknown, field: string, path: string): JsonObject {
  if (value === undefined || value === null) return {};
  if (isJsonObject(value)) return value;
  throw unusable(path, `expected an object in "${field}"`, 'read');
}

function toCredentialsError(error: unknown, action: string, path: string): Error {
  if (isToolkitError(error, 'registry/credentials')) return error;
  if (isToolkitError(error, 'core/bad-json')) {
    return createError('registry/credentials', {
      message: `Cannot ${action} the logins in "${path}": it is not sound JSON, repeats a key or is nested too deep`,
      hint: `Correct the file at ${error.where ?? path}`,
      where: error.where ?? path,
    });
  }
  if (isToolkitError(error, 'store/locked')) return unusable(path, 'another process has been changing it for too long', action);
  const reason = toIoError(error, action, path).message.split(': ').at(-1);
  return createError('registry/credentials', { message: `Cannot ${action} the logins in "${path}": ${reason}`, where: path, cause: error });
}

function unusable(path: string, reason: string, action: string): Error {
  return createError('registry/credentials', { message: `Cannot ${action} the logins in "${path}": ${reason}`, where: path });
}
