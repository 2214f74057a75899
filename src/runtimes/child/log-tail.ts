import { StringDecoder } from 'node:string_decoder';

/** What is kept of what a child writes. */
export const logBytes = 64 * 1024;

/** The end of what came in, in memory that does not grow. */
export class LogTail {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  add(chunk: Buffer): void {
    // Copied: a small piece would keep the large buffer that it was read into.
    this.#chunks.push(Buffer.from(chunk.subarray(-logBytes)));
    this.#bytes += Math.min(chunk.byteLength, logBytes);
    while (this.#bytes - (this.#chunks[0]?.byteLength ?? 0) >= logBytes) this.#bytes -= this.#chunks.shift()?.byteLength ?? 0;
  }

  text(): string {
    return Buffer.concat(this.#chunks).subarray(-logBytes).toString();
  }

  /** The last lines that say something, at most `count`, each at most 300 characters. */
  lastLines(count: number): readonly string[] {
    const lines = this.text().split(/\r?\n/);
    return lines
      .filter((line) => line.trim() !== '')
      .slice(-count)
      .map((line) => line.slice(0, 300));
  }
}

/** Hands over whole lines, without their ends. A line without end comes in pieces of at most 64 KiB. */
export class LineSplitter {
  readonly #onLine: (line: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  add(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split(/\r?\n/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#onLine(line);
    if (this.#rest.length >= logBytes) this.end();
  }

  end(): void {
    if (this.#rest !== '') this.#onLine(this.#rest);
    this.#rest = '';
  }
}
