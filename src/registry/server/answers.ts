import type { RegistryResponse, RequestSubject } from './http.js';

type Headers = RegistryResponse['headers'];

export function jsonAnswer(status: number, value: unknown, subject: RequestSubject, headers: Headers = {}): RegistryResponse {
  return bytesAnswer(status, Buffer.from(JSON.stringify(value)), { 'Content-Type': 'application/json', ...headers }, subject);
}

export function bytesAnswer(status: number, body: Uint8Array, headers: Headers, subject: RequestSubject): RegistryResponse {
  // Refusals too repeat what a client has said. (Fetch, 3.6)
  const always = { 'X-Content-Type-Options': 'nosniff', 'Content-Length': String(body.byteLength) };
  return { status, headers: { ...headers, ...always }, body, subject };
}

/** Without a body. 204 and 304 have no length either. (RFC 9110, 8.6) */
export function emptyAnswer(status: number, headers: Headers, subject: RequestSubject): RegistryResponse {
  return { status, headers: status === 204 || status === 304 ? headers : { ...headers, 'Content-Length': '0' }, subject };
}

/** What GET would have said, without saying it. */
export function withoutBody({ status, headers, subject }: RegistryResponse): RegistryResponse {
  return { status, headers, subject };
}
