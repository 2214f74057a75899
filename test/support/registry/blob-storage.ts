import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { digestOfFile } from './digests.js';

export interface StoredBlob {
  readonly path: string;
  readonly size: number;
}

/** Where something of a repository lies. A name is one component, so that repositories never lie in each other. */
export function repositoryFolder(folder: string, repository: string, kind: 'blobs' | 'manifests' | 'tags' | 'uploads'): string {
  return join(folder, 'repositories', encodeURIComponent(repository), kind);
}

export function listNames(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

export function writeNew(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Blobs lie once for all repositories; each repository has marks of those that are its own. Digests are sound already. */
export class BlobStorage {
  constructor(readonly folder: string) {}

  repositories(): string[] {
    return listNames(join(this.folder, 'repositories')).map(decodeURIComponent).sort();
  }

  pathOf(digest: string): string {
    return join(this.folder, 'blobs', digest.replace(':', '/'));
  }

  find(repository: string, digest: string): StoredBlob | undefined {
    const path = this.pathOf(digest);
    return existsSync(this.#markOf(repository, digest)) && existsSync(path) ? { path, size: statSync(path).size } : undefined;
  }

  /** Those that have the blob. */
  holdersOf(digest: string): string[] {
    return this.repositories().filter((repository) => this.find(repository, digest) !== undefined);
  }

  put(repository: string, digest: string, bytes: Uint8Array): void {
    writeNew(this.pathOf(digest), bytes);
    this.mark(repository, digest);
  }

  /** Takes the file over when it hashes to `digest`; false, and nothing done, when it does not. */
  async adopt(repository: string, digest: string, file: string): Promise<boolean> {
    if ((await digestOfFile(file, digest.slice(0, digest.indexOf(':')))) !== digest) return false;
    mkdirSync(dirname(this.pathOf(digest)), { recursive: true });
    renameSync(file, this.pathOf(digest));
    this.mark(repository, digest);
    return true;
  }

  mark(repository: string, digest: string): void {
    writeNew(this.#markOf(repository, digest), '');
  }

  /** The bytes stay while another repository has them. */
  remove(repository: string, digest: string): void {
    rmSync(this.#markOf(repository, digest));
    if (this.holdersOf(digest).length === 0) rmSync(this.pathOf(digest), { force: true });
  }

  read(digest: string): Uint8Array {
    return readFileSync(this.pathOf(digest));
  }

  #markOf(repository: string, digest: string): string {
    return join(repositoryFolder(this.folder, repository, 'blobs'), digest.replace(':', '-'));
  }
}
