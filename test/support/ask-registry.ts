import { createHash } from 'node:crypto';
import type { ByteStream } from '../../src/core/index.js';
import type { RegistryHandler } from '../../src/registry/server/index.js';

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  /** The body as JSON; empty without a body. */
  readonly json: Answered;
  /** Code of the first error. */
  readonly code: string | undefined;
}

/** What answers in JSON hold, of one kind or another. */
export interface Answered {
  readonly errors: readonly { readonly code: string; readonly message: string; readonly detail?: unknown }[];
  readonly tags: readonly string[];
  readonly repositories: readonly string[];
  readonly manifests: readonly { readonly digest: `sha256:${string}`; readonly mediaType: string; readonly size: number }[];
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | ByteStream;
  readonly signal?: AbortSignal;
}

export type AskRegistry = (method: string, target: string, options?: AskOptions) => Promise<Answer>;

/** Asks a registry without a socket. */
export function askOf(handler: RegistryHandler): AskRegistry {
  return async (method, target, { headers = {}, body = '', signal = new AbortController().signal } = {}) => {
    const isStream = typeof body === 'object' && Symbol.asyncIterator in body;
    const length: Record<string, string> = isStream ? {} : { 'content-length': String(Buffer.from(body).byteLength) };
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    const stream = isStream ? body : streamOf(Buffer.from(body));
    const response = await handler({ method, target, headers: { host: 'localhost', ...length, ...lower }, body: stream, signal });
    const bytes = await readBody(response.body);
    const answered = Object.entries(response.headers).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === 'string' ? value : value.join(', '),
    ]);
    const said = Object.fromEntries(answered) as Record<string, string>;
    const isJson = said['content-type']?.includes('json') === true && bytes.length > 0;
    const json = (isJson ? JSON.parse(bytes.toString()) : {}) as Answered;
    return { status: response.status, headers: said, bytes, json, code: json.errors?.[0]?.code };
  };
}

async function readBody(body: Uint8Array | (() => Promise<ByteStream>) | undefined): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  if (typeof body !== 'function') return Buffer.from(body);
  const chunks: Buffer[] = [];
  for await (const chunk of await body()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

export async function* streamOf(...chunks: readonly (Uint8Array | string)[]): ByteStream {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

export function sha256(content: Uint8Array | string): `sha256:${string}` {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** A manifest of these blobs, which need not have been pushed. */
export function toManifest(layers: readonly string[], more: object = {}): { readonly text: string; readonly digest: `sha256:${string}` } {
  const toDescriptor = (content: string, mediaType: string) => ({ mediaType, digest: sha256(content), size: Buffer.byteLength(content) });
  const text = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: toDescriptor('{}', 'application/vnd.oci.empty.v1+json'),
    layers: layers.map((layer) => toDescriptor(layer, 'application/octet-stream')),
    ...more,
  });
  return { text, digest: sha256(text) };
}

export const manifestType = 'application/vnd.oci.image.manifest.v1+json';
export const indexType = 'application/vnd.oci.image.index.v1+json';

export async function pushBlob(ask: AskRegistry, repository: string, content: string): Promise<void> {
  const { status } = await ask('POST', `/v2/${repository}/blobs/uploads/?digest=${sha256(content)}`, { body: content });
  if (status !== 201) throw new Error(`Pushed a blob and got ${status}`);
}

/** Blobs first, then the manifest under a tag, or by its digest without one. */
export async function pushPackage(
  ask: AskRegistry,
  repository: string,
  tag: string | undefined,
  layers: readonly string[],
  more: object = {},
): Promise<string> {
  for (const content of ['{}', ...layers]) await pushBlob(ask, repository, content);
  const { text, digest } = toManifest(layers, more);
  const { status } = await ask('PUT', `/v2/${repository}/manifests/${tag ?? digest}`, { headers: { 'Content-Type': manifestType }, body: text });
  if (status !== 201) throw new Error(`Pushed a manifest and got ${status}`);
  return digest;
}
