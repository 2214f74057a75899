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
  /** Calls back once it has passed the line on, or cannot. */
  write(line: string, taken: () => void): unknown;
}

/** Characters; lines beyond are lost. */
const mostWaiting = 16 * 1024 * 1024;

/** What JSON leaves as it is and a terminal may act on: DEL, the controls above ASCII, and what some take for the end of a line. */
const moreControls = /[\u007f-\u009f\u2028\u2029]/g;

/**
 * A line of JSON a request. It names what was asked, never the query or a header that may hold a secret; control characters are escaped. The stream
 * stays open.
 */
export async function openAccessLog(stream: LogStream): Promise<AccessLog> {
  const { pino, stdTimeFunctions } = await import('pino');
  // No level, no host, no process: it is one log of one kind. The time is then what a line begins with, and pino puts a comma before it.
  const options = { base: null, timestamp: () => stdTimeFunctions.isoTime().slice(1), formatters: { level: () => ({}) } };
  let waiting = 0;
  const write = (line: string) => {
    // A log that nobody reads must not fill the memory.
    if (waiting > mostWaiting) return;
    waiting += line.length;
    stream.write(line.replace(moreControls, escapeControl), () => void (waiting -= line.length));
  };
  const logger = pino(options, { write });
  return { write: (entry) => logger.info(entry) };
}

function escapeControl(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
