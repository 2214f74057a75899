/** A stream that may be a terminal. */
export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** Where answers come from, when a person sits there. */
export interface InputStream extends NodeJS.ReadableStream {
  readonly isTTY?: boolean | undefined;
}

/** The world that one call of the program sees. The streams stay open: whoever made them ends them. */
export interface CliIo {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted when a person interrupts; the verbs then clean up and stop. */
  readonly signal: AbortSignal;
}

/** Resolves once the stream took the bytes, so that a slow reader slows the writer down. Rejects with EPIPE when nobody reads any more. */
export function write(stream: OutputStream, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(bytes as string, (error?: Error | null) => (error ? reject(error) : resolve()));
  });
}

/** A reader that went away, as `head` does, is no mistake of anybody. */
export function isBrokenPipe(error: unknown): boolean {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
}
