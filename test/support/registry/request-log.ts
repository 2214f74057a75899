import { type IncomingHttpHeaders } from 'node:http';

/** One request that came in. */
export interface LogEntry {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The Range header. */
  readonly range: string | undefined;
  /** Of Authorization only the scheme is kept. */
  readonly headers: Readonly<Record<string, string>>;
  /** 0 until there is an answer, and for good when the connection broke before. */
  status: number;
  /** Bytes of the body that arrived. */
  requestBytes: number;
  /** Bytes of the body that were handed to the connection. */
  responseBytes: number;
  /** The answer went out to its end. */
  complete: boolean;
}

export function createLogEntry(method: string, url: URL, headers: IncomingHttpHeaders): LogEntry {
  return {
    method,
    path: decodePath(url.pathname),
    query: url.searchParams,
    range: headers.range,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, toKept(name, String(value))])),
    status: 0,
    requestBytes: 0,
    responseBytes: 0,
    complete: false,
  };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function toKept(name: string, value: string): string {
  return name.includes('authorization') ? (value.split(' ')[0] ?? '') : value;
}

/** The requests whose path matches, a text matching where it occurs. */
export function matchingEntries(log: readonly LogEntry[], pattern: RegExp | string): LogEntry[] {
  return log.filter(({ path }) => (typeof pattern === 'string' ? path.includes(pattern) : pattern.test(path)));
}
