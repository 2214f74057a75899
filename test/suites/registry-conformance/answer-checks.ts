import { type Answer } from './wire.js';

/** Fails with what was asked, what was expected and what came. */
export function assertAnswer(holds: boolean, { asked, status, body }: Answer, expected: string): asserts holds {
  if (holds) return;
  throw new Error(`${asked}: expected ${expected}, got ${status} with ${body.length === 0 ? 'no body' : excerpt(body)}`);
}

function excerpt(body: Buffer): string {
  const text = body
    .subarray(0, 300)
    .toString('latin1')
    .replaceAll(/[^ -~]+/g, '·');
  return body.length > 300 ? `${text}… (${body.length} bytes)` : text;
}

export function assertStatus(answer: Answer, ...statuses: readonly number[]): void {
  assertAnswer(statuses.includes(answer.status), answer, `status ${statuses.join(' or ')}`);
}

export function assertHeader(answer: Answer, name: string, value: string): void {
  const found = answer.headers[name];
  assertAnswer(found === value, answer, `${name}: ${value} and not ${String(found)}`);
}

export function assertBody(answer: Answer, bytes: Uint8Array): void {
  assertAnswer(answer.body.equals(bytes), answer, `${bytes.length} bytes of known content`);
}

/** The Location of an answer as an absolute URL. */
export function locationOf(answer: Answer): string {
  const { location } = answer.headers;
  assertAnswer(location !== undefined && location !== '', answer, 'a Location');
  return new URL(location, answer.url).href;
}

/** The body as JSON. */
export function jsonOf(answer: Answer): Record<string, unknown> {
  const value: unknown = JSON.parse(answer.body.toString('utf8'));
  assertAnswer(typeof value === 'object' && value !== null && !Array.isArray(value), answer, 'a JSON object');
  return value as Record<string, unknown>;
}

/**
 * A refusal is JSON with at least one error that has a code in capitals and a message for people; to HEAD it has no body. (distribution-spec, Error
 * Codes) With `code`, one of the errors has it.
 */
export function assertRefusal(answer: Answer, statuses: number | readonly number[], code?: string): void {
  assertStatus(answer, ...[statuses].flat());
  if (answer.method === 'HEAD') return assertAnswer(answer.body.length === 0, answer, 'no body');
  const codes = errorsOf(answer).map((error) => error.code);
  assertAnswer(code === undefined || codes.includes(code), answer, `the error ${code}`);
}

interface ErrorEntry {
  readonly code: string;
  readonly message: string;
  readonly detail: unknown;
}

/** The errors of a refusal, their shape checked. */
export function errorsOf(answer: Answer): readonly ErrorEntry[] {
  const type = answer.headers['content-type'] ?? 'none';
  assertAnswer(/^application\/json(;|$)/i.test(type), answer, `JSON and not the type ${type}`);
  const { errors } = jsonOf(answer);
  assertAnswer(Array.isArray(errors) && errors.length > 0 && errors.every(isErrorEntry), answer, 'errors, each with code and message');
  return errors;
}

function isErrorEntry(value: unknown): value is ErrorEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message } = value as Partial<Record<string, unknown>>;
  return typeof code === 'string' && /^[A-Z_]+$/.test(code) && typeof message === 'string' && message.trim() !== '';
}
