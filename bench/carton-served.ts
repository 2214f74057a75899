import { createReadStream, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A file on the loopback, whole or in parts. Close it. */
export interface ServedFile {
  readonly url: string;
  /** What was asked for and sent since the last call; bytes of bodies. */
  takeCounts(): { readonly requests: number; readonly bytes: number };
  close(): Promise<void>;
}

export async function serveFile(path: string, name: string): Promise<ServedFile> {
  let counts = { requests: 0, bytes: 0 };
  const { size } = statSync(path);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    counts.requests++;
    const [from, to] = parseRange(request.headers.range, size);
    const isPart = request.headers.range !== undefined;
    response.writeHead(isPart ? 206 : 200, {
      'accept-ranges': 'bytes',
      'content-length': to - from + 1,
      etag: `"${size}"`,
      ...(isPart && { 'content-range': `bytes ${from}-${to}/${size}` }),
    });
    if (request.method === 'HEAD') return void response.end();
    const body = createReadStream(path, { start: from, end: to });
    body.on('data', (chunk) => (counts.bytes += chunk.length));
    body.pipe(response);
  };
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`,
    takeCounts: () => {
      const taken = counts;
      counts = { requests: 0, bytes: 0 };
      return taken;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** First and last byte. */
function parseRange(header: string | undefined, size: number): readonly [number, number] {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? 'bytes=0-') ?? [];
  if (from === '') return [Math.max(0, size - Number(to)), size - 1];
  return [Number(from), to === '' ? size - 1 : Math.min(Number(to), size - 1)];
}
