import { createError, isJsonObject, type JsonObject } from '../../../core/index.js';
import type { Credentials } from './auth.js';
import { tokenUser } from './credential-helper.js';

/**
 * One value of `auths` → login; undefined for one that holds none, as docker leaves it beside a helper. Throws `registry/credentials` that
 * names file and key.
 */
export function parseAuthEntry(value: unknown, key: string, file: string): Credentials | undefined {
  if (!isJsonObject(value)) throw malformed(key, file, 'expected an object');
  const text = (field: string): string => {
    const found = value[field] ?? '';
    if (typeof found !== 'string') throw malformed(key, file, `expected a text in "${field}"`);
    return found;
  };
  if (text('identitytoken') !== '') return { kind: 'identity-token', token: text('identitytoken') };
  if (text('registrytoken') !== '') return { kind: 'registry-token', token: assertToken(text('registrytoken'), key, file) };
  if (text('auth') !== '') return parseAuth(text('auth'), key, file);
  return text('username') === '' ? undefined : toCredentials(text('username'), text('password'));
}

function parseAuth(auth: string, key: string, file: string): Credentials {
  const decoded = /^[A-Za-z0-9+/_-]+={0,2}$/.test(auth.trim()) ? Buffer.from(auth.trim(), 'base64').toString() : '';
  const colon = decoded.indexOf(':');
  if (colon < 1) throw malformed(key, file, 'expected base64 of USER:PASSWORD in "auth"');
  // Old versions of docker filled up with NUL.
  return toCredentials(decoded.slice(0, colon), decoded.slice(colon + 1).replace(/\0+$/, ''));
}

function toCredentials(username: string, password: string): Credentials {
  return username === tokenUser ? { kind: 'identity-token', token: password } : { kind: 'password', username, password };
}

/** It becomes a header as it is. */
function assertToken(token: string, key: string, file: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw malformed(key, file, '"registrytoken" holds spaces or other characters that no token has');
}

/** The entry with this login instead of what it held; other fields stay. */
export function toAuthEntry(before: unknown, credentials: Credentials): JsonObject {
  return { ...withoutSecrets(before), ...toFields(credentials) };
}

/** What remains of an entry whose login is kept elsewhere. */
export function withoutSecrets(entry: unknown): JsonObject {
  const {
    auth: _auth,
    username: _username,
    password: _password,
    identitytoken: _identity,
    registrytoken: _registry,
    ...others
  } = isJsonObject(entry) ? entry : {};
  return others;
}

function toFields(credentials: Credentials): JsonObject {
  switch (credentials.kind) {
    case 'password':
      return { auth: Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64') };
    case 'identity-token':
      return { identitytoken: credentials.token };
    case 'registry-token':
      return { registrytoken: credentials.token };
  }
}

function malformed(key: string, file: string, reason: string): Error {
  return createError('registry/credentials', {
    message: `Cannot use the login for "${key.slice(0, 200)}" in "${file}": ${reason}`,
    hint: 'Log in again: `modelport login HOST`',
    where: file,
  });
}
