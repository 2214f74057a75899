import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { listNames, repositoryFolder, writeNew } from './blob-storage.js';

/** An upload that was begun and neither finished nor cancelled. */
export interface Upload {
  readonly repository: string;
  readonly id: string;
  readonly path: string;
  readonly size: number;
}

/** Uploads are files that grow: what has arrived is there after a broken connection and after a restart. */
export class UploadStorage {
  constructor(readonly folder: string) {}

  begin(repository: string): Upload {
    const id = randomUUID();
    const path = this.#pathOf(repository, id);
    writeNew(path, '');
    return { repository, id, path, size: 0 };
  }

  find(repository: string, id: string): Upload | undefined {
    const path = this.#pathOf(repository, id);
    return /^[0-9a-f-]{36}$/.test(id) && existsSync(path) ? { repository, id, path, size: statSync(path).size } : undefined;
  }

  list(repository: string): Upload[] {
    return listNames(repositoryFolder(this.folder, repository, 'uploads')).flatMap((id) => this.find(repository, id) ?? []);
  }

  remove({ path }: Upload): void {
    rmSync(path, { force: true });
  }

  cutBack({ path, size }: Upload): void {
    truncateSync(path, size);
  }

  #pathOf(repository: string, id: string): string {
    return join(repositoryFolder(this.folder, repository, 'uploads'), id);
  }
}

/** Runs `fill` with a function that writes at the end of the file at once, so that no byte that arrived is ever lost in a buffer. */
export async function appendTo<T>(path: string, fill: (append: (chunk: Uint8Array) => void) => Promise<T>): Promise<T> {
  const file = openSync(path, 'a');
  try {
    return await fill((chunk) => {
      for (let done = 0; done < chunk.length;) done += writeSync(file, chunk, done);
    });
  } finally {
    closeSync(file);
  }
}
