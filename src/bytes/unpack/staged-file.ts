import { closeSync, fchownSync, futimesSync, openSync, write, writeSync } from 'node:fs';
import { createError } from '../../core/index.js';
import { toIoError } from '../os-error.js';

/** `mtime` counts seconds since 1970 and may have a fraction; without `uid` and `gid` the files belong to whoever unpacks. */
export interface Attributes {
  readonly mode?: number | undefined;
  readonly mtime?: number | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

export function setOwnerAndTime(handle: number, { mtime, uid, gid }: Attributes): void {
  if (uid !== undefined && gid !== undefined) fchownSync(handle, uid, gid);
  if (mtime !== undefined) futimesSync(handle, mtime, mtime);
}

/** A file that is being written: its bytes in order, then `end`. */
export class StagedFile {
  readonly #handle: number;
  readonly #name: string;
  readonly #size: number;
  readonly #attributes: Attributes;
  readonly #finish: (handle: number, size: number) => void;
  #written = 0;

  /** `name` is for errors; `finish` takes over the open file. */
  constructor(path: string, name: string, size: number, attributes: Attributes, finish: (handle: number, size: number) => void) {
    this.#handle = openSync(path, 'wx', (attributes.mode ?? 0o666) & 0o777);
    this.#name = name;
    this.#size = size;
    this.#attributes = attributes;
    this.#finish = finish;
  }

  write(chunk: Uint8Array): void {
    this.#count(chunk);
    try {
      for (let done = 0; done < chunk.byteLength;) done += writeSync(this.#handle, chunk, done);
    } catch (error) {
      throw toIoError(error, 'write', this.#name);
    }
  }

  /** The same beside the event loop, so that several large files are written at a time. */
  async writeAside(chunk: Uint8Array): Promise<void> {
    this.#count(chunk);
    try {
      for (let done = 0; done < chunk.byteLength;) done += await writeSome(this.#handle, chunk, done);
    } catch (error) {
      throw toIoError(error, 'write', this.#name);
    }
  }

  end(): void {
    if (this.#written !== this.#size) throw this.#mismatch();
    try {
      setOwnerAndTime(this.#handle, this.#attributes);
      this.#finish(this.#handle, this.#size);
    } catch (error) {
      throw toIoError(error, 'write', this.#name);
    }
  }

  close(): void {
    closeSync(this.#handle);
  }

  #count(chunk: Uint8Array): void {
    this.#written += chunk.byteLength;
    if (this.#written > this.#size) throw this.#mismatch();
  }

  #mismatch(): Error {
    const found = this.#written > this.#size ? `at least ${this.#written}` : String(this.#written);
    return createError('bytes/size-mismatch', {
      message: `Cannot unpack "${this.#name}": expected ${this.#size} bytes, found ${found}`,
      hint: 'The bytes are damaged or cut off: fetch or build the package again',
      where: this.#name,
    });
  }
}

/** At a time, as in output-file.ts; of large files only, where smaller pieces were the better ones. */
const writeBytes = 256 * 1024;

function writeSome(handle: number, chunk: Uint8Array, start: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(handle, chunk, start, Math.min(writeBytes, chunk.byteLength - start), null, (error, count) =>
      error === null ? resolve(count) : reject(error),
    );
  });
}
