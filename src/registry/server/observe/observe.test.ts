import { describe, expect, it } from 'vitest';
import { say, stream } from '../../../../test/support/listen-bench.js';
import type { ByteStream } from '../../../core/index.js';
import type { RegistryHandler, RegistryRequest, RegistryResponse } from '../http.js';
import { type LogEntry, openAccessLog } from './access-log.js';
import { createMetrics } from './metrics.js';
import { observe } from './observe.js';

async function* pieces(...texts: readonly string[]): ByteStream {
  for (const text of texts) yield Buffer.from(text);
}

function requestOf(method: string, target: string, more: Partial<RegistryRequest> = {}): RegistryRequest {
  return { method, target, headers: {}, body: pieces('four', 'five5'), signal: new AbortController().signal, ...more };
}

async function read({ body }: RegistryResponse): Promise<string> {
  if (typeof body !== 'function') return Buffer.from(body ?? []).toString();
  let text = '';
  for await (const chunk of await body()) text += Buffer.from(chunk).toString();
  return text;
}

/** Observed by a log that is kept. */
function logged(handler: RegistryHandler): { ask: RegistryHandler; entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  return { ask: observe({ log: { write: (entry) => entries.push(entry) } }, handler), entries };
}

describe('a request', () => {
  it('is logged when it is answered', async () => {
    const subject = { endpoint: 'manifest', repository: 'a/b', reference: 'v1' };
    const { ask, entries } = logged(async ({ body }) => {
      for await (const chunk of body) expect(chunk.byteLength).toBeGreaterThan(0);
      return { ...say(201, 'done'), subject, user: 'ada' };
    });
    const headers = { authorization: 'Bearer very-secret', 'user-agent': `oras\u001b[31m${'x'.repeat(500)}` };
    const response = await ask(
      requestOf('PUT', '/v2/a/b/manifests/v1?token=very-secret', { headers, client: { address: '10.0.0.7', isSecure: true } }),
    );
    expect(entries).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{8}-1$/),
        method: 'PUT',
        ...subject,
        status: 201,
        bytesIn: 9,
        bytesOut: 4,
        ms: expect.any(Number),
        client: '10.0.0.7',
        user: 'ada',
        userAgent: headers['user-agent'].slice(0, 200),
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain('very-secret');
    expect(response.headers['X-Request-Id']).toBe(entries[0]?.id);
  });

  it('is over when its last byte has been asked for', async () => {
    const { ask, entries } = logged(async () => stream(undefined, () => pieces('one', 'two')));
    const response = await ask(requestOf('GET', '/'));
    expect(entries).toEqual([]);
    expect(await read(response)).toBe('onetwo');
    expect(entries).toMatchObject([{ status: 200, bytesIn: 0, bytesOut: 6 }]);
    expect(entries[0]?.aborted).toBeUndefined();
  });

  it('is logged as aborted when its answer breaks', async () => {
    const { ask, entries } = logged(async () =>
      stream(9, async function* () {
        yield Buffer.from('one');
        throw new Error('gone');
      }),
    );
    await expect(read(await ask(requestOf('GET', '/')))).rejects.toThrow('gone');
    expect(entries).toMatchObject([{ bytesOut: 3, aborted: true }]);
  });

  it('is logged as aborted when its answer cannot be opened', async () => {
    const { ask, entries } = logged(async () => ({ ...say(200), body: () => Promise.reject(new Error('gone')) }));
    await expect(read(await ask(requestOf('GET', '/')))).rejects.toThrow('gone');
    expect(entries).toMatchObject([{ aborted: true }]);
  });

  it.each(['before', 'while'])('is logged once as aborted when the client went away %s it was answered', async (when) => {
    const abort = new AbortController();
    const { ask, entries } = logged(async () => {
      if (when === 'before') abort.abort();
      return stream(9, () => pieces('one', 'two'));
    });
    const response = await ask(requestOf('GET', '/', { signal: abort.signal }));
    abort.abort();
    await read(response);
    expect(entries).toMatchObject([{ bytesOut: 0, aborted: true }]);
  });

  it('of HEAD sends nothing', async () => {
    const { ask, entries } = logged(async () => say(200, 'content'));
    await ask(requestOf('HEAD', '/'));
    expect(entries).toMatchObject([{ bytesOut: 0 }]);
  });

  it('is not touched when nobody looks', () => {
    const handler: RegistryHandler = async () => say(200);
    expect(observe({}, handler)).toBe(handler);
  });

  it('has an id only where there is a log', async () => {
    const ask = observe({ metrics: createMetrics({ countConnections: () => 0, countUploads: () => 0 }) }, async () => say(200));
    expect((await ask(requestOf('GET', '/'))).headers).not.toHaveProperty('X-Request-Id');
  });
});

describe('the access log', () => {
  it('is a line of JSON a request, without what is not known, and without control characters', async () => {
    const lines: string[] = [];
    const log = await openAccessLog({ write: (line) => lines.push(line) });
    const entry = { id: 'x-1', method: 'GET', endpoint: 'blob', status: 200, bytesIn: 0, bytesOut: 7, ms: 1.5 };
    log.write({ ...entry, repository: undefined, userAgent: 'a\u001b[31m\n{"user":"root"}\u2028\u009b1m\u007f' });
    log.write({ ...entry, aborted: true });
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^\{"time":"\d{4}-[^"]*Z","id":"x-1",.*\}\n$/);
    expect(lines[0]).toMatch(/^[ -~]+\n$/);
    expect(JSON.parse(lines[0] ?? '')).toEqual({ time: expect.any(String), ...entry, userAgent: 'a\u001b[31m\n{"user":"root"}\u2028\u009b1m\u007f' });
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ aborted: true });
  });

  it('loses lines rather than fill the memory when nobody takes them', async () => {
    let characters = 0;
    let take = () => {};
    const log = await openAccessLog({
      write: (line, taken) => {
        characters += line.length;
        take = taken;
      },
    });
    const entry = { id: 'x'.repeat(1024 * 1024), method: 'GET', endpoint: 'blob', status: 200, bytesIn: 0, bytesOut: 7, ms: 1.5 };
    for (let count = 0; count < 40; count++) log.write(entry);
    expect(characters / entry.id.length).toBeLessThan(18);
    const before = characters;
    take();
    log.write(entry);
    expect(characters).toBeGreaterThan(before);
  });
});

describe('metrics', () => {
  const sources = { countConnections: () => 3, countUploads: () => 2 };

  it('count from the start', async () => {
    const metrics = createMetrics(sources);
    const ask = observe({ metrics }, async ({ method, body }) => {
      if (method === 'PUT') for await (const chunk of body) expect(chunk.byteLength).toBeGreaterThan(0);
      return { ...say(method === 'PUT' ? 201 : 404, 'seven77'), subject: { endpoint: 'blob', repository: 'secret/name' } };
    });
    for (const method of ['GET', 'GET', 'PUT', 'BREW', 'MADE-UP']) await ask(requestOf(method, '/'));
    metrics.begin();
    metrics.countMirror('hit');
    metrics.countMirror('miss');
    metrics.countMirror('miss');
    metrics.countCollection();
    const { contentType, text } = await metrics.write();
    expect(contentType).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const line of [
      'modelport_registry_requests_total{method="GET",endpoint="blob",status="404"} 2',
      'modelport_registry_requests_total{method="PUT",endpoint="blob",status="201"} 1',
      'modelport_registry_requests_total{method="other",endpoint="blob",status="404"} 2',
      'modelport_registry_request_duration_seconds_count{method="GET",endpoint="blob"} 2',
      'modelport_registry_received_bytes_total 9',
      'modelport_registry_sent_bytes_total 35',
      'modelport_registry_requests_in_flight 1',
      'modelport_registry_mirror_requests_total{outcome="hit"} 1',
      'modelport_registry_mirror_requests_total{outcome="miss"} 2',
      'modelport_registry_collections_total 1',
      'modelport_registry_connections 3',
      'modelport_registry_uploads 2',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text).toContain('process_resident_memory_bytes');
    expect(text).not.toContain('secret/name');
  });

  it('of several servers are apart', async () => {
    const [one, other] = [createMetrics(sources), createMetrics(sources)];
    one.countCollection();
    expect((await one.write()).text).toContain('modelport_registry_collections_total 1\n');
    expect((await other.write()).text).toContain('modelport_registry_collections_total 0\n');
  });

  it('see what happened before and after they were read', async () => {
    const metrics = createMetrics(sources);
    const record = { method: 'GET', endpoint: 'tags', status: 200, seconds: 1, bytesIn: 0, bytesOut: 5 };
    metrics.begin();
    metrics.end(record);
    await metrics.write();
    metrics.begin();
    metrics.end(record);
    expect((await metrics.write()).text).toContain('modelport_registry_sent_bytes_total 10\n');
  });
});
