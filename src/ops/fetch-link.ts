import { decodeContent } from '../bytes/index.js';
import { type ByteStream, createError, type ErrorCode, isToolkitError, type LinkedPart, type ProgressItem } from '../core/index.js';
import { type FetchedFile, fetchFile, showUrl } from '../http/index.js';
import type { OpsContext } from './context.js';
import { createFileClient } from './registries.js';

export interface FetchedLink {
  /** Decoded and limited, not verified. */
  readonly body: ByteStream;
  /** For whoever hashes; a guess where the server does not say. */
  readonly expectedBytes: number;
  /** `identity` for none. */
  readonly encoding: string;
}

/** Files or URLs that a message names. */
export const namedLinks = 10;

/** Failures that no other URL mends. */
const ofThisMachine: readonly ErrorCode[] = ['core/cancelled', 'core/bug', 'http/offline', 'bytes/disk-full', 'bytes/io', 'bytes/exists'];

/** Throws `http/offline` naming what would have to be fetched. */
export function assertOnline(linked: readonly LinkedPart[], { network }: OpsContext): void {
  if (network.offline !== true) return;
  const names = linked.slice(0, namedLinks).map(({ path }) => JSON.stringify(path));
  const more = linked.length > namedLinks ? ` and ${linked.length - namedLinks} more` : '';
  throw createError('http/offline', {
    message: `Cannot fetch ${names.join(', ')}${more}: only links lead there, and the network is switched off`,
    hint: 'Go on without --offline, once: what was fetched is kept. Or make the carton whole with `modelport carton inflate`',
    where: linked[0]?.path,
  });
}

/** What one URL of a link gives. `progress` is told of bytes as they are sent. */
export async function fetchLink(url: string, maxBytes: number, context: OpsContext, progress?: ProgressItem): Promise<FetchedLink> {
  const { limits, network, signal } = context;
  const file = await fetchFile(url, { client: await createFileClient(context), plainHttp: network.plainHttp, signal });
  try {
    const where = file.shown;
    const body = decodeContent(told(file.body, progress), file.encoding, { limits: { ...limits, unpackedBytes: maxBytes }, where });
    return {
      body: limited(body, maxBytes, file),
      expectedBytes: file.size ?? maxBytes,
      encoding: file.encoding === '' ? 'identity' : file.encoding,
    };
  } catch (error) {
    file.drop();
    throw error;
  }
}

async function* told(stream: ByteStream, progress: ProgressItem | undefined): ByteStream {
  for await (const chunk of stream) {
    progress?.advance(chunk.byteLength);
    yield chunk;
  }
}

/** What is not encoded is limited too, and the rest is given up in any case. */
async function* limited(stream: ByteStream, limit: number, file: FetchedFile): ByteStream {
  let size = 0;
  try {
    for await (const chunk of stream) {
      size += chunk.byteLength;
      if (size > limit)
        throw createError('bytes/limit', { message: `Cannot fetch "${file.shown}": it is larger than ${limit} bytes`, where: file.shown });
      yield chunk;
    }
  } finally {
    file.drop();
  }
}

export function isOfThisMachine(error: unknown): boolean {
  return !isToolkitError(error) || ofThisMachine.includes(error.code);
}

/** Without the address, which stands before it. */
export function toReason(error: unknown, url: string): string {
  const text = error instanceof Error ? error.message : String(error);
  const beginnings = ['Cannot use what came: ', ...['fetch', 'read', 'decode', 'decompress'].map((verb) => `Cannot ${verb} "${showUrl(url)}": `)];
  const known = beginnings.find((each) => text.startsWith(each));
  return known === undefined ? text.replace(/^C/, 'c') : text.slice(known.length);
}
