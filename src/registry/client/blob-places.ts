import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceFile } from '../../bytes/index.js';
import { type Digest, isDigest } from '../../core/index.js';
import { isHostName, isRepositoryName } from './grammar.js';

/** Which repository of a registry is known to hold a blob: another one of the same registry can take it from there, and nothing is sent. */
export interface BlobPlaces {
  /** The last one that was noted. It may have lost the blob since. */
  find(host: string, digest: Digest): string | undefined;
  note(host: string, digest: Digest, repository: string): void;
}

/** Beyond this the file is written anew with its younger half. */
const compactBytes = 4 * 1024 * 1024;

/** Remembers in a file; what cannot be read or written is not remembered. Lines of several processes never mix: each is one write. */
export function openBlobPlaces(file: string): BlobPlaces {
  let places: Map<string, string> | undefined;
  const load = () => (places ??= new Map(readLines(file).flatMap(parseLine)));
  return {
    find: (host, digest) => load().get(`${host} ${digest}`),
    note: (host, digest, repository) => {
      if (load().get(`${host} ${digest}`) === repository) return;
      load().set(`${host} ${digest}`, repository);
      append(file, `${host} ${digest} ${repository}\n`);
    },
  };
}

export const noPlaces: BlobPlaces = { find: () => undefined, note: () => {} };

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** A torn line is none. */
function parseLine(line: string): [string, string][] {
  const [host, digest, repository, ...rest] = line.split(' ');
  if (host === undefined || !isHostName(host) || !isDigest(digest) || !isRepositoryName(repository) || rest.length > 0) return [];
  return [[`${host} ${digest}`, repository]];
}

function append(file: string, line: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, line);
    if (statSync(file).size <= compactBytes) return;
    const lines = readLines(file).filter((each) => each !== '');
    replaceFile(file, `${lines.slice(Math.floor(lines.length / 2)).join('\n')}\n`);
  } catch {
    // A memory on a full or read-only disk is no reason to fail.
  }
}
