import { assertWanted, createError } from '../../core/index.js';
import type { Connection } from './connection.js';
import type { OutgoingContent } from './outgoing-content.js';
import { isPassingError, toDelay, wait } from '../../http/index.js';
import type { JournalEntry } from './upload-journal.js';
import type { UploadSession, UploadState } from './upload-session.js';

export interface SendingOptions {
  readonly connection: Connection;
  readonly repository: string;
  readonly journal: JournalEntry;
  readonly signal?: AbortSignal | undefined;
}

/** The pieces of one blob on their way. */
export class PieceSending {
  readonly #options: SendingOptions;
  readonly #session: UploadSession;
  readonly #outgoing: OutgoingContent;
  readonly #size: number;
  /** Tries in a row that brought nothing; only bytes beyond the farthest that ever were confirmed are progress. */
  #failures = 0;
  #farthest = 0;

  constructor(options: SendingOptions, session: UploadSession, outgoing: OutgoingContent, size: number) {
    this.#options = options;
    this.#session = session;
    this.#outgoing = outgoing;
    this.#size = size;
  }

  /** The state after the last piece; undefined when the registry takes no pieces at all. */
  async run(first: UploadState): Promise<UploadState | undefined> {
    const { connection, journal } = this.#options;
    let state = first;
    this.#farthest = first.offset;
    while (state.offset < this.#size) {
      this.#assertWanted();
      const next = await this.#send(state);
      if (next === 'no pieces') return undefined;
      if (next.offset > this.#farthest) this.#failures = 0;
      this.#farthest = Math.max(this.#farthest, next.offset);
      state = next;
      if (state.offset > 0 && connection.address.quirks.keepsUploads) journal.keep(state);
    }
    return state;
  }

  #assertWanted(): void {
    const { signal } = this.#options;
    assertWanted(signal);
  }

  async #send(state: UploadState): Promise<UploadState | 'no pieces'> {
    const { chunkBytes } = this.#options.connection.address.quirks;
    const size = Math.min(Math.max(chunkBytes, state.minChunkBytes ?? 0), this.#size - state.offset);
    try {
      const sent = await this.#session.sendPiece(state, { size, open: async () => this.#outgoing.take(state.offset, size) });
      if (!('kind' in sent)) return sent.offset > state.offset ? sent : await this.#recover(sent, piecesRefused(this.#options));
      if (state.offset === 0 && sent.status !== 404) return 'no pieces';
      return await this.#recover(state, piecesRefused(this.#options));
    } catch (error) {
      if (!isPassingError(error, true)) throw error;
      return this.#recover(state, error);
    }
  }

  /** What the registry says it has is what counts. (end-13) */
  async #recover(state: UploadState, error: unknown): Promise<UploadState> {
    const { connection, journal, signal } = this.#options;
    this.#failures += 1;
    if (this.#failures >= connection.retry.attempts) throw error;
    await wait(toDelay(this.#failures + 1, connection.retry), signal);
    const found = await this.#session.findState(state.location);
    if (found !== undefined && found.offset <= this.#size) return { ...state, ...found };
    journal.forget();
    return this.#session.start();
  }
}

export function piecesRefused({ connection: { address }, repository }: SendingOptions): Error {
  return createError('registry/refused', {
    message: `Cannot push to "${address.host}/${repository}": the registry refuses the pieces of a blob`,
    hint: 'Something between here and there may limit the size of requests',
    where: address.host,
  });
}
