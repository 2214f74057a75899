/** One request that is over, as the log says it. */
export interface LogEntry {
  readonly id: string;
  readonly method: string;
  readonly endpoint: string;
  readonly repository?: string | undefined;
  readonly reference?: string | undefined;
  readonly status: number;
  /** The client went away before the end. */
  readonly aborted?: true | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly ms: number;
  readonly client?: string | undefined;
  /** The name alone. */
  readonly user?: string | undefined;
  readonly userAgent?: string | undefined;
}

export interface AccessLog {
  write(entry: LogEntry): void;
}

export interface LogStream {
  write(line: string): unknown;
}

/**
 * A line of JSON a request. It names what was asked, never the query or a header that may hold a secret; control characters are escaped, as JSON
 * does. The stream stays open.
 */
export async function openAccessLog(stream: LogStream): Promise<AccessLog> {
  const { pino, stdTimeFunctions } = await import('pino');
  // No level, no host, no process: it is one log of one kind.
  const logger = pino(
    { base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: () => ({}) } },
    { write: (line) => void stream.write(line) },
  );
  return { write: (entry) => logger.info(entry) };
}
