import { createHash, timingSafeEqual } from 'node:crypto';
import { type AccessLine, badLine, listLines } from './access-file.js';
import { allRights, type Right } from './rights.js';

export interface KnownToken {
  /** Says in logs which one it was, without saying it. */
  readonly name: string;
  /** SHA-256 of the token. */
  readonly hash: Buffer;
  readonly rights: ReadonlySet<Right>;
}

export interface TokenTable {
  readonly tokens: readonly KnownToken[];
}

const leastCharacters = 16;

/** All are compared with each that is offered. */
const mostTokens = 1000;

const hashShape = /^sha256:([0-9a-f]{64})$/i;

/**
 * A token a line, or `sha256:HEX` of it, then what it allows: `pull`, `pull,push`, and so on; everything when nothing is said. Throws
 * `registry/bad-access-file` with the line.
 */
export function parseTokenFile(text: string, where: string): TokenTable {
  const lines = listLines(text, where);
  const tokens = lines.map((line) => parseLine(line, where));
  const known = new Map<string, number>();
  tokens.forEach(({ hash }, index) => {
    const line = lines[index] as AccessLine;
    const before = known.get(hash.toString('hex'));
    if (before !== undefined) throw badLine(where, line, `the same token stands in line ${before}`, 'Remove one of the two lines');
    if (index >= mostTokens) throw badLine(where, line, `there are more than ${mostTokens} tokens`, 'Let several machines share one');
    known.set(hash.toString('hex'), line.number);
  });
  return { tokens };
}

function parseLine(line: AccessLine, where: string): KnownToken {
  const [secret = '', rights, ...more] = line.text.split(/\s+/);
  if (more.length > 0) throw badLine(where, line, 'expected a token and at most one word after it', 'Write the rights as pull,push,delete');
  return { name: `token-${line.number}`, hash: toHash(secret, line, where), rights: parseRights(rights, line, where) };
}

function toHash(secret: string, line: AccessLine, where: string): Buffer {
  const [, hex] = hashShape.exec(secret) ?? [];
  if (hex !== undefined) return Buffer.from(hex, 'hex');
  if (secret.startsWith('sha256:'))
    throw badLine(where, line, 'expected 64 hex digits after sha256:', 'Make them with `printf %s TOKEN | sha256sum`');
  if (secret.length >= leastCharacters) return hashToken(secret);
  const reason = `expected a token of at least ${leastCharacters} characters, found ${secret.length}`;
  throw badLine(where, line, reason, 'Make one with `openssl rand -hex 32`');
}

function parseRights(word: string | undefined, line: AccessLine, where: string): ReadonlySet<Right> {
  if (word === undefined) return allRights;
  const rights = word.split(',').map((right) => {
    if ((allRights as ReadonlySet<string>).has(right)) return right as Right;
    throw badLine(where, line, 'expected pull, push or delete after the token, separated by commas', 'For example: TOKEN pull,push');
  });
  return new Set(rights);
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Takes as long whichever it is, and when it is none. */
export function findToken({ tokens }: TokenTable, offered: string): KnownToken | undefined {
  const hash = hashToken(offered);
  let found: KnownToken | undefined;
  for (const token of tokens) if (timingSafeEqual(token.hash, hash)) found = token;
  return found;
}
