import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { listNames, repositoryFolder, writeNew } from './blob-storage.js';
import { isSoundDigest } from './digests.js';

export interface StoredManifest {
  readonly repository: string;
  readonly digest: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
  readonly tags: readonly string[];
}

const typeSuffix = '.type';

/** Manifests byte for byte, with the type they came with, and tags. References are sound already. */
export class ManifestStorage {
  constructor(readonly folder: string) {}

  find(repository: string, reference: string): StoredManifest | undefined {
    const digest = isSoundDigest(reference) ? reference : this.#digestOf(repository, reference);
    if (digest === undefined) return undefined;
    const path = this.#pathOf(repository, digest);
    if (!existsSync(path)) return undefined;
    const tags = this.tags(repository).filter((tag) => this.#digestOf(repository, tag) === digest);
    return { repository, digest, mediaType: readFileSync(path + typeSuffix, 'utf8'), bytes: readFileSync(path), tags };
  }

  list(repository: string): StoredManifest[] {
    const names = listNames(repositoryFolder(this.folder, repository, 'manifests')).filter((name) => !name.endsWith(typeSuffix));
    return names.flatMap((name) => this.find(repository, name.replace('-', ':')) ?? []);
  }

  put(repository: string, digest: string, mediaType: string, bytes: Uint8Array): void {
    const path = this.#pathOf(repository, digest);
    writeNew(path, bytes);
    writeNew(path + typeSuffix, mediaType);
  }

  tag(repository: string, tag: string, digest: string): void {
    writeNew(join(repositoryFolder(this.folder, repository, 'tags'), tag), digest);
  }

  tags(repository: string): string[] {
    return listNames(repositoryFolder(this.folder, repository, 'tags'));
  }

  untag(repository: string, tag: string): void {
    rmSync(join(repositoryFolder(this.folder, repository, 'tags'), tag));
  }

  /** With all of its tags. */
  remove({ repository, digest, tags }: StoredManifest): void {
    for (const tag of tags) this.untag(repository, tag);
    rmSync(this.#pathOf(repository, digest));
    rmSync(this.#pathOf(repository, digest) + typeSuffix);
  }

  #digestOf(repository: string, tag: string): string | undefined {
    const path = join(repositoryFolder(this.folder, repository, 'tags'), tag);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }

  #pathOf(repository: string, digest: string): string {
    return join(repositoryFolder(this.folder, repository, 'manifests'), digest.replace(':', '-'));
  }
}
