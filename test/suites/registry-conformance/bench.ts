import { assertAnswer, assertRefusal } from './answer-checks.js';
import { type ConformanceVersion } from './cell.js';
import { type Answer, type Question, Wire } from './wire.js';

/** A registry under test, and what cells share: content that was put there once for several of them. */
export class Bench {
  readonly #wire: Wire;
  readonly #made = new Map<string, Promise<unknown>>();

  constructor(
    url: string,
    readonly version: ConformanceVersion,
  ) {
    this.#wire = new Wire(url);
  }

  /** Every refusal has to be an error document, whoever asked for what. */
  async send(method: string, target: string, question?: Question): Promise<Answer> {
    const answer = await this.#wire.send(method, target, question);
    if (answer.status >= 400) assertRefusal(answer, answer.status);
    return answer;
  }

  get(target: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send('GET', target, { headers });
  }

  head(target: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send('HEAD', target, { headers });
  }

  /** `make` runs for the first who asks; the others get the same, also the same failure. */
  once<T>(key: string, make: () => Promise<T>): Promise<T> {
    const made = (this.#made.get(key) as Promise<T> | undefined) ?? make();
    this.#made.set(key, made);
    return made;
  }

  /** The digest header says the right thing, and in `dev` it is there. (distribution-spec, Pulling manifests) */
  assertDigest(answer: Answer, digest: string): void {
    const found = answer.headers['docker-content-digest'];
    const isSaid = found === digest || (found === undefined && this.version === '1.1');
    assertAnswer(isSaid, answer, `docker-content-digest: ${digest} and not ${String(found)}`);
  }

  close(): void {
    this.#wire.close();
  }
}
