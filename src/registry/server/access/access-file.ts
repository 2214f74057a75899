import { createError, type ToolkitError } from '../../../core/index.js';

/** A file that somebody else reads and watches. */
export interface AccessSource {
  /** Its path, for messages. */
  readonly where: string;
  /** The same text as long as the file has not changed. What it throws is announced. */
  readonly read: () => string;
}

/** More than a thousand people; what is larger is some other file. */
const mostCharacters = 1024 * 1024;

/** The content of a file that may change at any time. A file that has become wrong counts for nothing until it is mended: what stood before goes on. */
export class AccessFile<T extends object> {
  readonly #source: AccessSource;
  readonly #parse: (text: string, where: string) => T;
  readonly #announce: (problem: string) => void;
  #text: string;
  #value: T;
  #isLost = false;

  /** Throws when the file is wrong from the start. */
  constructor(source: AccessSource, parse: (text: string, where: string) => T, announce: (problem: string) => void) {
    this.#source = source;
    this.#parse = parse;
    this.#announce = announce;
    this.#text = source.read();
    this.#value = parse(this.#text, source.where);
  }

  /** The same object as long as nothing has changed. */
  current(): T {
    try {
      const text = this.#source.read();
      this.#isLost = false;
      if (text === this.#text) return this.#value;
      this.#text = text;
      this.#value = this.#parse(text, this.#source.where);
    } catch (error) {
      this.#tell(error);
    }
    return this.#value;
  }

  /** Once for every time that it becomes wrong: a wrong text is not parsed again. */
  #tell(error: unknown): void {
    if (this.#isLost) return;
    this.#isLost = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#announce(`${reason}; what was read before still counts`);
  }
}

export interface AccessLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** The lines that say something. Throws `registry/bad-access-file` for a text that is too long to be of this kind. */
export function listLines(text: string, where: string): readonly AccessLine[] {
  if (text.length > mostCharacters) {
    throw createError('registry/bad-access-file', {
      message: `Cannot use "${where}": it is ${text.length} characters long and at most ${mostCharacters} are read`,
      where,
    });
  }
  return text
    .split('\n')
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter((line) => line.text !== '' && !line.text.startsWith('#'));
}

/** Says what is wrong without repeating the line, which is a secret. */
export function badLine(where: string, line: AccessLine, reason: string, hint: string): ToolkitError {
  return createError('registry/bad-access-file', {
    message: `Cannot use line ${line.number} of "${where}": ${reason}`,
    hint,
    where: `${where}:${line.number}`,
  });
}
