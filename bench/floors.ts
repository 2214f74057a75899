/** What the machine can do: the least work that a step could be, done by the plainest programs. */
import { join } from 'node:path';
import type { FileBlob } from './data.js';
import type { Command } from './measure.js';
import { thenSync, toScript } from './script.js';

/** Their names in the tables. */
export const floors = {
  oneCore: 'openssl dgst, one core',
  twoCores: 'openssl dgst, two cores',
  copy: 'cp -r, then sync',
  hashBesideCopy: 'hash beside cp, then sync',
  onePass: 'one read, SHA-256, CRC-32, one write, then sync',
  tar: 'tar c, then openssl dgst',
  untar: 'tar x',
  node: 'node -e 0',
  curlPush: 'curl POST and PUT, four at a time',
  curlPull: 'curl GET, four at a time, then sync',
} as const;

export function hashOnOneCore(files: readonly string[]): Command {
  return { program: 'openssl', args: ['dgst', '-sha256', ...files] };
}

/** Two processes at a time, each with the next two files. */
export function hashOnTwoCores(files: readonly string[]): Command {
  return toScript(`printf '%s\\0' "$@" | xargs -0 -n 2 -P 2 openssl dgst -sha256`, files);
}

/** A folder without subfolders. Only the copy is synced, because others may be writing to the same disk. */
export function copyThenSync(from: string, to: string): Command {
  return toScript('cp -r "$1" "$2" && sync "$2"/*', [from, to]);
}

/** One core hashes while the other copies: what a pack that keeps the bytes cannot do without. */
export function hashBesideCopy(files: readonly string[], from: string, to: string): Command {
  const script = 'from=$1 to=$2; shift 2; openssl dgst -sha256 "$@" & cp -r "$from" "$to" && wait $! && sync "$to"/*';
  return toScript(script, [from, to, ...files]);
}

const onePassScript = `
const { closeSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } = require('node:fs');
const { basename, join } = require('node:path');
const { createHash } = require('node:crypto');
const { crc32 } = require('node:zlib');
const [folder, ...files] = process.argv.slice(1);
const buffer = Buffer.alloc(1 << 20);
mkdirSync(folder);
for (const file of files) {
  const [from, to] = [openSync(file), openSync(join(folder, basename(file)), 'wx')];
  const hash = createHash('sha256');
  for (let crc = 0, count; (count = readSync(from, buffer)) > 0; ) {
    const piece = buffer.subarray(0, count);
    hash.update(piece);
    crc = crc32(piece, crc);
    writeSync(to, piece);
  }
  hash.digest();
  fsyncSync(to);
  closeSync(from);
  closeSync(to);
}
`;

/** One after the other on one core: what a zip whose members are hashed cannot do without. */
export function onePass(files: readonly string[], to: string): Command {
  return { program: process.execPath, args: ['-e', onePassScript, to, ...files] };
}

export function tarThenHash(dir: string, file: string): Command {
  return toScript('tar -cf "$2" -C "$1" . && openssl dgst -sha256 "$2"', [dir, file]);
}

export function untar(file: string, dir: string): Command {
  return toScript('mkdir "$2" && tar -xf "$1" -C "$2"', [file, dir]);
}

/** The least that a Node program can be. */
export const nodeAlone: Command = { program: process.execPath, args: ['-e', '0'] };

/** Of a registry that is at `url` with the repository: each blob with one POST and one PUT, its digest known before. The place it gives may be a path, with a query or without. */
export function curlPush(url: string, blobs: readonly FileBlob[]): Command {
  const one = `location=$(${curl} -X POST -D - -o /dev/null "$0/blobs/uploads/" | tr -d '\\r' | sed -n 's/^[Ll]ocation: //p')
    case $location in /*) location=\${0%%/v2/*}$location ;; esac
    case $location in *\\?*) sign='&' ;; *) sign='?' ;; esac
    ${curl} -H Expect: -H 'Content-Type: application/octet-stream' -o /dev/null -T "$2" "$location\${sign}digest=$1"`;
  return fourAtATime(one, url, blobs);
}

/** The same blobs into the files of a new folder, without looking at a digest. */
export function curlPull(url: string, blobs: readonly FileBlob[], to: string): Command {
  const targets = blobs.map(({ digest, name }) => ({ digest, name, file: join(to, name) }));
  return thenSync(fourAtATime(`${curl} --create-dirs -o "$2" "$0/blobs/$1"`, url, targets), to);
}

const curl = "curl -sSf --noproxy '*'";

/** `one` gets the URL as $0, a digest as $1 and its file as $2. */
function fourAtATime(one: string, url: string, blobs: readonly FileBlob[]): Command {
  const script = 'one=$1 url=$2; shift 2; printf "%s\\0" "$@" | xargs -0 -n 2 -P 4 sh -c "$one" "$url"';
  return toScript(script, [one, url, ...blobs.flatMap(({ digest, file }) => [digest, file])]);
}
