import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Behaviour } from './behaviour.js';
import { startTestRegistry, type TestRegistry, type TestRegistryOptions } from './test-registry.js';
import { startTokenServer } from './token-server.js';

const closers: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function start(behaviour: Partial<Behaviour> = {}, options: TestRegistryOptions = {}): Promise<TestRegistry> {
  const registry = await startTestRegistry({ behaviour, ...options });
  closers.push(() => registry.close());
  return registry;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A connection of its own for each request. */
function send(url: string, method = 'GET', headers: Record<string, string | number> = {}, body: Uint8Array | string = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false });
    const sent = request(url, { method, headers: { 'content-length': Buffer.byteLength(body), ...headers }, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const digestOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const bytes = randomBytes(300_000);
const digest = digestOf(bytes);
const location = ({ headers }: Answer) => String(headers['location']);
const begin = async (registry: TestRegistry) => location(await send(`${registry.url}/v2/a/b/blobs/uploads/`, 'POST'));
const withDigest = (url: string, value = digest) => `${url}${url.includes('?') ? '&' : '?'}digest=${value}`;

/** Sends some of a body that was announced longer, and breaks off when the registry has it. */
function breakOff(registry: TestRegistry, url: string, part: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(url, { method: 'PATCH', headers: { 'content-length': bytes.length }, agent: false });
    sent.on('error', () => resolve());
    sent.write(part);
    const look = () => {
      if (registry.log.at(-1)?.requestBytes === part.length) sent.destroy(new Error('broken'));
      else setImmediate(look);
    };
    look();
  });
}

describe('uploads', () => {
  it('go up in one piece, and down in parts', async () => {
    const registry = await start();
    expect((await send(withDigest(await begin(registry)), 'PUT', {}, bytes)).status).toBe(201);
    const url = `${registry.url}/v2/a/b/blobs/${digest}`;
    const head = await send(url, 'HEAD');
    expect(head.headers).toMatchObject({ 'content-length': '300000', 'docker-content-digest': digest, etag: `"${digest}"` });
    const part = await send(url, 'GET', { range: 'bytes=10-19' });
    expect([part.status, part.headers['content-range']]).toEqual([206, 'bytes 10-19/300000']);
    expect(part.body.equals(bytes.subarray(10, 20))).toBe(true);
    expect((await send(url, 'GET', { range: 'bytes=-5' })).body.equals(bytes.subarray(-5))).toBe(true);
    expect((await send(url, 'GET', { range: 'bytes=299999-' })).body.length).toBe(1);
    expect((await send(url, 'GET', { range: 'bytes=300000-' })).status).toBe(416);
    expect((await send(url, 'GET', { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
    expect((await send(`${registry.url}/v2/other/blobs/${digest}`)).status).toBe(404);
    expect(registry.count('GET', `/blobs/${digest}`)).toBe(6);
    expect(registry.mishaps).toEqual([]);
  });

  it('go up in chunks, in order', async () => {
    const registry = await start({ locationWithQuery: true });
    const url = await begin(registry);
    const first = await send(url, 'PATCH', { 'content-range': '0-99' }, bytes.subarray(0, 100));
    expect([first.status, first.headers['range']]).toEqual([202, '0-99']);
    expect((await send(location(first), 'PATCH', { 'content-range': '200-299' }, bytes.subarray(200, 300))).status).toBe(416);
    expect((await send(url.replace('keep=', 'lost='))).status).toBe(404);
    const status = await send(location(first));
    expect([status.status, status.headers['range']]).toEqual([204, '0-99']);
    expect((await send(withDigest(location(status)), 'PUT', { 'content-range': '100-299999' }, bytes.subarray(100))).status).toBe(201);
    expect(Buffer.from(registry.readBlob(digest)).equals(bytes)).toBe(true);
    expect(registry.uploads()).toEqual([]);
  });

  it('keep every byte that came before the connection broke, also over a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'far-side-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const registry = await start({}, { folder });
    const url = await begin(registry);
    await breakOff(registry, url, bytes.subarray(0, 123_456));
    await registry.restart();
    expect((await send(url)).headers['range']).toBe('0-123455');
    expect((await send(url, 'PATCH', { 'content-range': '123456-299999' }, bytes.subarray(123_456))).status).toBe(202);
    expect((await send(withDigest(url), 'PUT')).status).toBe(201);
    expect(registry.hasBlob('a/b', digest)).toBe(true);
  });

  it('are lost with the connection, and appended blindly, as with an old registry', async () => {
    const registry = await start({ brokenUploads: 'lost', checksContentRange: false });
    const lost = await begin(registry);
    await breakOff(registry, lost, bytes.subarray(0, 1000));
    await registry.restart();
    expect((await send(lost)).status).toBe(404);
    const url = await begin(registry);
    await send(url, 'PATCH', { 'content-range': '0-99' }, bytes.subarray(0, 100));
    expect((await send(url, 'PATCH', { 'content-range': '500-599' }, bytes.subarray(500, 600))).headers['range']).toBe('0-199');
  });

  it('are refused with a wrong digest, and gone then; cancelled ones too', async () => {
    const registry = await start();
    const wrong = await send(withDigest(await begin(registry), `sha256:${'1'.repeat(64)}`), 'PUT', {}, bytes);
    expect([wrong.status, JSON.parse(wrong.body.toString()).errors[0].code]).toEqual([400, 'DIGEST_INVALID']);
    const url = await begin(registry);
    expect(registry.uploads().length).toBe(1);
    expect((await send(url, 'DELETE')).status).toBe(204);
    expect((await send(url)).status).toBe(404);
  });

  it('are mounted when the source has the blob', async () => {
    const registry = await start();
    registry.putBlob('source', bytes);
    expect((await send(`${registry.url}/v2/a/blobs/uploads/?mount=${digest}&from=nowhere`, 'POST')).status).toBe(202);
    expect((await send(`${registry.url}/v2/a/blobs/uploads/?mount=${digest}&from=source`, 'POST')).status).toBe(201);
    expect(registry.hasBlob('a', digest)).toBe(true);
  });

  it('are bent as the behaviour says', async () => {
    const registry = await start({ chunked: 'refuse-416', relativeLocation: true, chunkMinLength: 1000, emptyRange: '0--1' });
    const begun = await send(`${registry.url}/v2/a/blobs/uploads/`, 'POST');
    expect(begun.headers).toMatchObject({ 'oci-chunk-min-length': '1000', range: '0--1' });
    expect(location(begun)).toMatch(/^\/v2\/a\/blobs\/uploads\//);
    expect((await send(registry.url + location(begun), 'PATCH', {}, bytes)).status).toBe(416);
    registry.behaviour.chunked = 'refuse-above-4MiB';
    registry.behaviour.firstPatchAnswers201 = true;
    expect((await send(registry.url + location(begun), 'PATCH', {}, Buffer.alloc(4 * 1024 * 1024 + 1))).status).toBe(416);
    expect((await send(registry.url + location(begun), 'PATCH', {}, bytes)).status).toBe(201);
  });
});

describe('downloads', () => {
  it('are damaged once, cut off, or sent elsewhere', async () => {
    const registry = await start({
      corruptBlob: new Map([[digest, 'once']]),
      truncateBlob: new Map(),
    });
    registry.putBlob('a', bytes);
    const url = `${registry.url}/v2/a/blobs/${digest}`;
    expect(digestOf((await send(url)).body)).not.toBe(digest);
    expect(digestOf((await send(url)).body)).toBe(digest);
    registry.behaviour.truncateBlob.set(digest, { after: 1000, framing: 'close', times: 'once' });
    const cut = await send(url);
    expect([cut.headers['content-length'], cut.body.length]).toEqual([undefined, 1000]);
    registry.behaviour.truncateBlob.set(digest, { after: 100_000, framing: 'length', times: 'once' });
    await expect(send(url)).rejects.toThrow('aborted');
    expect(registry.log.at(-1)).toMatchObject({ responseBytes: 100_000, complete: false });
    registry.behaviour.blobRedirect = 'storage';
    const redirected = await send(url);
    expect(redirected.status).toBe(307);
    expect(digestOf((await send(location(redirected), 'GET', { authorization: 'Bearer abc' })).body)).toBe(digest);
    expect(registry.storage.log[0]?.headers['authorization']).toBe('Bearer');
    expect(registry.mishaps).toEqual([]);
  });

  it('are refused as often as the limit says', async () => {
    const registry = await start({ rateLimit: { times: 2, retryAfter: '1' }, htmlErrors: true });
    const answers = [await send(`${registry.url}/v2/`), await send(`${registry.url}/v2/`), await send(`${registry.url}/v2/`)];
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 200]);
    expect(answers[0]?.headers).toMatchObject({ 'retry-after': '1', 'content-type': 'text/html; charset=utf-8' });
  });
});

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const emptyConfig = { mediaType: 'application/vnd.oci.empty.v1+json', digest: digestOf(Buffer.from('{}')), size: 2 };
const manifestOf = (more: object = {}) =>
  Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: manifestType, config: emptyConfig, layers: [], ...more }));
const put = (registry: TestRegistry, reference: string, manifest: Uint8Array) =>
  send(`${registry.url}/v2/a/manifests/${reference}`, 'PUT', { 'content-type': manifestType }, manifest);

describe('manifests', () => {
  it('are kept byte for byte once all their blobs are there', async () => {
    const registry = await start();
    const refused = await put(registry, 'v1', manifestOf());
    expect([refused.status, JSON.parse(refused.body.toString()).errors[0].code]).toEqual([400, 'MANIFEST_BLOB_UNKNOWN']);
    registry.putBlob('a', '{}');
    expect((await put(registry, 'v1', manifestOf())).status).toBe(201);
    expect((await put(registry, `sha256:${'2'.repeat(64)}`, manifestOf())).status).toBe(400);
    expect((await put(registry, 'v2', Buffer.alloc(4 * 1024 * 1024 + 1, 32))).status).toBe(413);
    const got = await send(`${registry.url}/v2/a/manifests/v1`, 'GET', { accept: manifestType });
    expect([got.headers['content-type'], got.body.equals(manifestOf())]).toEqual([manifestType, true]);
    expect((await send(`${registry.url}/v2/a/manifests/v1`, 'GET', { accept: 'text/plain' })).status).toBe(404);
    expect((await send(`${registry.url}/v2/a/manifests/v1`, 'DELETE')).status).toBe(202);
    expect((await send(`${registry.url}/v2/a/manifests/v1`)).status).toBe(404);
    expect((await send(`${registry.url}/v2/a/manifests/${digestOf(manifestOf())}`)).status).toBe(200);
  });

  it('are listed: tags by pages, referrers by type', async () => {
    const registry = await start({ tagsPageSize: 2 });
    registry.putBlob('a', '{}');
    for (const tag of ['c', 'B', 'a']) await put(registry, tag, manifestOf());
    const page = await send(`${registry.url}/v2/a/tags/list`);
    expect(JSON.parse(page.body.toString())).toEqual({ name: 'a', tags: ['B', 'a'] });
    const next = /<(.+)>; rel="next"/.exec(String(page.headers['link']))?.[1];
    const second = await send(registry.url + next);
    expect([JSON.parse(second.body.toString()).tags, second.headers['link']]).toEqual([['c'], undefined]);
    const subject = { mediaType: manifestType, digest: digestOf(manifestOf()), size: manifestOf().length };
    const pushed = await put(registry, 'sbom', manifestOf({ subject, artifactType: 'text/x-sbom', annotations: { a: 'b' } }));
    expect(pushed.headers['oci-subject']).toBe(subject.digest);
    await put(registry, 'other', manifestOf({ subject }));
    const found = await send(`${registry.url}/v2/a/referrers/${subject.digest}?artifactType=text/x-sbom`);
    expect(found.headers['oci-filters-applied']).toBe('artifactType');
    expect(JSON.parse(found.body.toString()).manifests).toMatchObject([{ artifactType: 'text/x-sbom', annotations: { a: 'b' } }]);
    registry.behaviour.referrers = false;
    expect((await send(`${registry.url}/v2/a/referrers/${subject.digest}`)).status).toBe(404);
    expect(registry.mishaps).toEqual([]);
  });
});

describe('authorization', () => {
  it('by tokens is judged with every request', async () => {
    const server = await startTokenServer({ users: { me: 'pass' } });
    closers.push(() => server.close());
    const registry = await start({}, { auth: { kind: 'token', server } });
    const first = await send(`${registry.url}/v2/a/blobs/uploads/`, 'POST');
    expect(first.status).toBe(401);
    expect(first.headers['www-authenticate']).toBe(`Bearer realm="${server.realm}",service="test-registry",scope="repository:a:pull,push"`);
    const ask = (headers: Record<string, string>) =>
      send(`${server.realm}?service=test-registry&scope=repository:a:pull,push&offline_token=true`, 'GET', headers);
    const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`me:${password}`).toString('base64')}` });
    expect((await ask(basic('wrong'))).status).toBe(401);
    const nobody = JSON.parse((await ask({})).body.toString());
    const upload = (token: string) => send(`${registry.url}/v2/a/blobs/uploads/`, 'POST', { authorization: `Bearer ${token}` });
    expect((await upload(nobody.token)).headers['www-authenticate']).toContain('error="insufficient_scope"');
    const mine = JSON.parse((await ask(basic('pass'))).body.toString());
    expect((await upload(mine.token)).status).toBe(202);
    server.expireAll();
    expect((await upload(mine.token)).headers['www-authenticate']).toContain('error="invalid_token"');
    const form = new URLSearchParams({ grant_type: 'refresh_token', service: server.service, refresh_token: mine.refresh_token, client_id: 'test' });
    form.append('scope', 'repository:a:pull,push');
    const renewed = JSON.parse((await send(server.realm, 'POST', {}, form.toString())).body.toString());
    expect((await upload(renewed.access_token)).status).toBe(202);
    expect(server.requests.map(({ proof, user, status }) => [proof, user, status])).toEqual([
      ['basic', 'me', 401],
      ['nothing', undefined, 200],
      ['basic', 'me', 200],
      ['refresh_token', 'me', 200],
    ]);
    expect(JSON.stringify([registry.log, server.requests])).not.toMatch(/pass|refresh-/);
  });

  it('by password is Basic', async () => {
    const registry = await start({}, { auth: { kind: 'basic', user: 'me', password: 'p:w' } });
    expect((await send(`${registry.url}/v2/`)).headers['www-authenticate']).toBe('Basic realm="Test registry"');
    const authorization = `Basic ${Buffer.from('me:p:w').toString('base64')}`;
    expect((await send(`${registry.url}/v2/`, 'GET', { authorization })).status).toBe(200);
  });
});
