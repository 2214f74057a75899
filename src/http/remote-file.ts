import type { ByteCounters, Limits, RangeSource } from '../core/index.js';
import type { FileAccessOptions } from './file-requests.js';

export interface RemoteFileOptions extends FileAccessOptions {
  /** `remoteCopyBytes`: what is copied to this machine from a server that gives no parts. */
  readonly limits: Limits;
  /** Told of what a copy costs; requests are counted by the client. */
  readonly counters?: ByteCounters | undefined;
  /** The folder for a copy, which exists; the system's one for temporary files by default. */
  readonly tmp?: (() => Promise<string>) | undefined;
}

/** A file at a server, read by parts. Close it. */
export interface RemoteFile extends RangeSource {
  /** For messages: without the query. */
  readonly url: string;
  /** False when the server gives no parts, and all of the file was copied to this machine. */
  readonly ranged: boolean;
  close(): Promise<void>;
}
