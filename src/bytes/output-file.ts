import { type FileHandle, open, rm } from 'node:fs/promises';
import { toIoError } from './os-error.js';

/**
 * At a time. Larger writes make Linux look for memory in large pieces, which on a virtual machine are often not backed yet and then several
 * times slower to fill; smaller ones cost by their number.
 */
const writeBytes = 512 * 1024;

/** Where a blob is written: a new file, or from `position` on into one that exists. */
export interface BlobOutput {
  readonly path: string;
  readonly position?: number;
}

/** A blob's file while it is written; one that was created is removed again after a failure. */
export class OutputFile {
  readonly #handle: FileHandle;
  readonly #output: BlobOutput;
  #position: number;

  private constructor(handle: FileHandle, output: BlobOutput) {
    this.#handle = handle;
    this.#output = output;
    this.#position = output.position ?? 0;
  }

  static async open(output: BlobOutput): Promise<OutputFile> {
    try {
      return new OutputFile(await open(output.path, output.position === undefined ? 'wx' : 'r+'), output);
    } catch (error) {
      throw toIoError(error, 'write', output.path);
    }
  }

  async write(chunk: Uint8Array): Promise<void> {
    try {
      for await (const count of writeAt(this.#handle, chunk, this.#position, writeBytes)) this.#position += count;
    } catch (error) {
      throw toIoError(error, 'write', this.#output.path);
    }
  }

  async finish(sync: boolean): Promise<void> {
    try {
      if (sync) await this.#handle.sync();
      await this.#handle.close();
    } catch (error) {
      throw toIoError(error, 'write', this.#output.path);
    }
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {});
    if (this.#output.position === undefined) await rm(this.#output.path, { force: true });
  }
}

/** Writes a chunk in pieces and tells of each when it is written. */
export async function* writeAt(handle: FileHandle, chunk: Uint8Array, position: number, pieceBytes: number): AsyncGenerator<number> {
  for (let done = 0; done < chunk.byteLength;) {
    const { bytesWritten } = await handle.write(chunk, done, Math.min(pieceBytes, chunk.byteLength - done), position + done);
    done += bytesWritten;
    yield bytesWritten;
  }
}
