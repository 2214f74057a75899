import { dirname, resolve } from 'node:path';
import { assertWanted, type ByteCounters, createCounters, defaultLimits } from '../../core/index.js';
import { openContent, sizeOfContent } from '../content.js';
import { TwinFinder } from '../path-twins.js';
import { assertSafePath, judgeCharacters, unsafePath } from '../safe-path.js';
import { removeLeftovers } from '../unpack/leftovers.js';
import { peekSmall } from './peek-small.js';
import { writeLongMember } from './write-long-member.js';
import { writeSmallMember } from './write-small-member.js';
import { fileTypes } from './zip-format.js';
import { toCentralHeader, toEndRecords } from './zip-headers.js';
import type { AddedMember, PlannedMember, WrittenMember, ZipMember } from './zip-member.js';
import { smallBytes, ZipOutput } from './zip-output.js';

/** A zip being written. Nothing is at its path before `commit`, and what was there stays until then. */
export interface ZipWriter {
  /**
   * One member after the other, in the order of the calls; each is read, hashed and written once. After a failure the archive can only be closed:
   * every later call fails likewise. `bytes/file-changed`, `bytes/unsafe-path` (also for a path that is there already), `core/cancelled`.
   */
  add(member: ZipMember): Promise<AddedMember>;
  /** Writes the list and puts the whole file in its place, durably. */
  commit(): Promise<{ readonly size: number }>;
  /** Gives up what was not committed. To be called in any case. */
  close(): Promise<void>;
}

export interface CreateZipOptions {
  readonly counters?: ByteCounters | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Starts an archive that will be at `path`. The same members in the same order give the same bytes: one date for all, no owners, no extra
 * fields but zip64 where a size or offset needs it, or where the size of a long stream is not known. Deflate gives the same bytes wherever zlib is the same.
 */
export async function createZip(path: string, { counters = createCounters(), signal }: CreateZipOptions = {}): Promise<ZipWriter> {
  const target = resolve(path);
  removeLeftovers(dirname(target));
  return new ZipFile(target, await ZipOutput.open(target, counters), counters, signal);
}

class ZipFile implements ZipWriter {
  readonly #path: string;
  readonly #output: ZipOutput;
  readonly #counters: ByteCounters;
  readonly #signal: AbortSignal | undefined;
  readonly #taken = new TwinFinder(false);
  readonly #list: Buffer[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, output: ZipOutput, counters: ByteCounters, signal: AbortSignal | undefined) {
    this.#path = path;
    this.#output = output;
    this.#counters = counters;
    this.#signal = signal;
  }

  add(member: ZipMember): Promise<AddedMember> {
    return this.#queue(async () => {
      assertWanted(this.#signal);
      const { facts, digest } = await this.#write(this.#plan(member));
      this.#list.push(toCentralHeader(facts));
      return { size: facts.size, crc32: facts.crc32, digest };
    });
  }

  /** Where a member begins is known only when the one before it has ended; what failed before fails again. */
  #queue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result;
    result.catch(() => {});
    return result;
  }

  #plan(member: ZipMember): PlannedMember {
    const { path } = member;
    assertSafePath(path, this.#path, defaultLimits);
    const twin = this.#taken.add(path);
    if (twin !== undefined) throw unsafePath(path, this.#path, `it cannot stand beside "${twin.first}"`);
    const name = Buffer.from(path);
    if ('content' in member) {
      const { content, method = 'none', mode = 0o644 } = member;
      return { name, content, method, mode: fileTypes.file | (mode & 0o777) };
    }
    const reason = member.link === '' ? 'it is empty' : judgeCharacters(member.link);
    if (reason !== undefined) throw unsafePath(member.link, `the link ${path} of ${this.#path}`, reason);
    return { name, content: { kind: 'bytes', bytes: Buffer.from(member.link) }, method: 'none', mode: fileTypes.symlink | 0o777 };
  }

  async #write(member: PlannedMember): Promise<WrittenMember> {
    const size = sizeOfContent(member.content);
    if (size !== undefined && size <= smallBytes) return writeSmallMember(this.#output, member, size, this.#counters);
    const stream = openContent(member.content, { counters: this.#counters });
    const options = { counters: this.#counters, signal: this.#signal };
    if (size !== undefined) return writeLongMember(this.#output, member, stream, size, options);
    const peeked = await peekSmall(stream, smallBytes);
    if (peeked.kind === 'long') return writeLongMember(this.#output, member, peeked.stream, undefined, options);
    const { bytes } = peeked;
    return writeSmallMember(this.#output, { ...member, content: { kind: 'bytes', bytes } }, bytes.length, this.#counters);
  }

  commit(): Promise<{ readonly size: number }> {
    return this.#queue(async () => {
      assertWanted(this.#signal);
      const offset = this.#output.end;
      for (const header of this.#list) await this.#output.put(header);
      await this.#output.put(toEndRecords(this.#list.length, this.#output.end - offset, offset));
      return { size: await this.#output.commit() };
    });
  }

  async close(): Promise<void> {
    await this.#last.catch(() => {});
    await this.#output.close();
  }
}
