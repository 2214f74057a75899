import type { Duplex } from 'node:stream';
import { isSystemError } from '../../../bytes/index.js';

const refusals: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The head of the request is too long'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The head of the request took too long'],
};

/** What the parser of Node calls what is no HTTP. */
const parserPrefix = 'HPE_';

/** Answers what is no request, and closes. In the middle of an answer nothing can be said. */
export function answerMalformed(error: Error, socket: Duplex, isAnswering: boolean): void {
  const code = isSystemError(error) ? error.code : '';
  const [status, message] = refusals[code] ?? ['400 Bad Request', 'This is no request of HTTP/1.1'];
  const isOurs = code in refusals || code.startsWith(parserPrefix);
  if (!isOurs || isAnswering || !socket.writable) return void socket.destroy();
  const body = JSON.stringify({ errors: [{ code: 'UNSUPPORTED', message }] });
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body, () => socket.destroy());
}
