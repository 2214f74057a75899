import { lineAndColumn, type Limits } from '../core/index.js';
import { badArray, overLimit } from './bad-array.js';

export interface ExactJson {
  /** Whole numbers beyond 2^53 are bigint, all others number; objects have no prototype. */
  readonly value: unknown;
  /** Whether a number was written with a fraction or an exponent: `1.0` is a float, `1` is not. */
  readonly hasFraction: boolean;
}

const number = /(-?(?:0|[1-9]\d*))(\.\d+)?([eE][+-]?\d+)?(?![\w.])/y;
const word = /(?:true|false|NaN|-?Infinity)(?![\w.])/y;
const words: Readonly<Record<string, boolean | number>> = { true: true, false: false, NaN: Number.NaN, Infinity: Infinity, '-Infinity': -Infinity };
/** No integer type is wider than 20 digits; a longer one would only be slow. */
const mostDigits = 400;

/**
 * JSON in which no number loses digits, with NaN, Infinity and -Infinity as bare words. Throws `tensors/bad-array` with line and column for what is
 * malformed, nested too deep or repeats a key, and for null; `bytes/limit` for what is longer than `limits.tensorTextBytes`.
 */
export function parseExactJson(text: string, where: string, limits: Limits): ExactJson {
  if (text.length > limits.tensorTextBytes)
    throw overLimit(where, `it is ${text.length} characters long and at most ${limits.tensorTextBytes} are read`);
  return new Reader(text, where, limits.jsonDepth).read();
}

class Reader {
  #at = 0;
  #hasFraction = false;

  constructor(
    readonly text: string,
    readonly where: string,
    readonly maxDepth: number,
  ) {}

  read(): ExactJson {
    const value = this.#value(0);
    this.#skipBlanks();
    if (this.#at < this.text.length) throw this.#bad('something follows the value');
    return { value, hasFraction: this.#hasFraction };
  }

  #value(depth: number): unknown {
    this.#skipBlanks();
    const sign = this.text[this.#at];
    if (sign === '[' || sign === '{') {
      if (depth >= this.maxDepth) throw this.#bad(`it is nested deeper than ${this.maxDepth} levels`);
      return sign === '[' ? this.#array(depth + 1) : this.#object(depth + 1);
    }
    return sign === '"' ? this.#string() : this.#scalar();
  }

  #array(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#list(']', () => items.push(this.#value(depth)));
    return items;
  }

  #object(depth: number): Record<string, unknown> {
    const object = Object.create(null) as Record<string, unknown>;
    this.#list('}', () => {
      this.#skipBlanks();
      if (this.text[this.#at] !== '"') throw this.#bad('expected a key');
      const key = this.#string();
      if (key in object) throw this.#bad('a key stands twice in one object');
      this.#skipBlanks();
      if (this.text[this.#at] !== ':') throw this.#bad('expected :');
      this.#at++;
      object[key] = this.#value(depth);
    });
    return object;
  }

  #list(close: string, one: () => void): void {
    this.#at++;
    this.#skipBlanks();
    if (this.text[this.#at] === close) {
      this.#at++;
      return;
    }
    for (;;) {
      one();
      this.#skipBlanks();
      const sign = this.text[this.#at];
      if (sign !== ',' && sign !== close) throw this.#bad(`expected , or ${close}`);
      this.#at++;
      if (sign === close) return;
    }
  }

  #string(): string {
    const start = this.#at;
    let end = start + 1;
    while (end < this.text.length && this.text[end] !== '"') end += this.text[end] === '\\' ? 2 : 1;
    try {
      const value = JSON.parse(this.text.slice(start, end + 1)) as string;
      this.#at = end + 1;
      return value;
    } catch (cause) {
      throw this.#bad('malformed text', cause);
    }
  }

  #scalar(): number | bigint | boolean {
    number.lastIndex = this.#at;
    const match = number.exec(this.text);
    if (match !== null) return this.#number(match);
    word.lastIndex = this.#at;
    const found = word.exec(this.text)?.[0];
    const value = found === undefined ? undefined : words[found];
    if (found === undefined || value === undefined) throw this.#bad('expected a number, text, true, false, NaN, Infinity, [ or {');
    this.#at += found.length;
    return value;
  }

  #number([whole, digits = '', fraction, exponent]: RegExpExecArray): number | bigint {
    if (whole.length > mostDigits) throw this.#bad(`a number of ${whole.length} characters`);
    const value = Number(whole);
    const isWhole = fraction === undefined && exponent === undefined;
    if (!Number.isFinite(value)) throw this.#bad('a number is too large for float64');
    this.#at += whole.length;
    if (!isWhole) this.#hasFraction = true;
    return isWhole && !Number.isSafeInteger(value) ? BigInt(digits) : value;
  }

  #skipBlanks(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  #bad(reason: string, cause?: unknown): Error {
    const place = lineAndColumn(this.text, this.#at);
    return badArray(this.where, `${reason} at line ${place.replace(':', ', column ')}`, place, cause);
  }
}
