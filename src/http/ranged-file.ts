import { collect, fromBytes, sizeMismatch } from '../bytes/index.js';
import type { ByteRange, ByteStream } from '../core/index.js';
import { exactStream } from './exact-stream.js';
import type { FileRequests } from './file-requests.js';
import { assertSameState, fileChanged, type FileState, readState, toIfRange } from './file-state.js';
import type { FoundTail } from './find-tail.js';
import type { HttpResponse } from './http.js';
import { KeptRanges } from './kept-ranges.js';
import { noRanges, readPart } from './part-answer.js';
import type { RemoteFile } from './remote-file.js';
import { type OpenBody, resumedStream } from './resumed-stream.js';

const keptBytes = 8 * 1024 * 1024;
const gapBytes = 64 * 1024;

/** A file in one state at a server that gives parts of it. */
export class RangedFile implements RemoteFile {
  readonly url: string;
  readonly ranged = true;
  readonly size: number;
  readonly #requests: FileRequests;
  readonly #state: FileState;
  readonly #kept: KeptRanges;

  private constructor(size: number, state: FileState, requests: FileRequests) {
    this.url = requests.shown;
    this.size = size;
    this.#state = state;
    this.#requests = requests;
    this.#kept = new KeptRanges({ size, keptBytes, gapBytes, fetch: (start, end) => this.#fetch(start, end) });
  }

  static async open({ part, response }: Extract<FoundTail, { kind: 'part' }>, requests: FileRequests): Promise<RangedFile> {
    const file = new RangedFile(part.size, readState(response, part.size), requests);
    if (part.size > 0) file.#kept.keep(part.start, await file.#fetch(part.start, part.end, response));
    return file;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.#assertInside(offset + length);
    return this.#kept.read(offset, offset + length);
  }

  async stream({ start, end = this.size }: ByteRange): Promise<ByteStream> {
    this.#assertInside(end);
    if (end - start <= gapBytes || this.#kept.has(start, end)) return fromBytes(await this.#kept.read(start, Math.max(start, end)));
    return this.#open(start, end);
  }

  async close(): Promise<void> {
    this.#kept.clear();
  }

  #assertInside(end: number): void {
    if (end > this.size) throw sizeMismatch(this.url, end, String(this.size));
  }

  #fetch(start: number, end: number, first?: HttpResponse): Promise<Uint8Array> {
    return collect(this.#open(start, end, first), end - start, this.url);
  }

  #open(start: number, end: number, first?: HttpResponse): ByteStream {
    const answers = first === undefined ? [] : [first];
    const ask = async (position: number): Promise<OpenBody> => {
      const response = answers.pop() ?? (await this.#ask(position, end));
      return { body: exactStream(response.body, end - position, this.url), drop: () => response.drop() };
    };
    return resumedStream(ask, start, this.#requests);
  }

  async #ask(start: number, end: number): Promise<HttpResponse> {
    const pinned = toIfRange(this.#state);
    const response = await this.#requests.get({ range: `bytes=${start}-${end - 1}`, ...pinned }, [200, 206, 416], end - start);
    try {
      if (response.status === 416 || (response.status === 200 && 'if-range' in pinned)) throw fileChanged(this.url);
      if (response.status === 200) throw noRanges(this.url, 'it gave the last bytes alone, and all of the file when it was asked for others');
      const part = readPart(response, this.url);
      assertSameState(this.#state, readState(response, part.size), this.url);
      if (part.start === start && part.end === end) return response;
      throw noRanges(this.url, `expected the bytes ${start} to ${end - 1}, found ${part.start} to ${part.end - 1}`);
    } catch (error) {
      response.drop();
      throw error;
    }
  }
}
