import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  askOf,
  type AskRegistry,
  indexType,
  manifestType,
  pushBlob,
  pushPackage,
  sha256,
  streamOf,
  toManifest,
} from '../../../test/support/ask-registry.js';
import { type ByteStream, createError, type Finding, type RegistryStore } from '../../core/index.js';
import { createMemoryRegistryStore, openRegistryStore } from '../../store/index.js';
import { createRegistry } from './registry.js';

const stores: readonly (readonly [string, (folder: string) => Promise<RegistryStore>])[] = [
  ['memory', async () => createMemoryRegistryStore()],
  ['a layout', (folder) => openRegistryStore(join(folder, 'layout'), { create: true })],
];

describe.each(stores)('a registry over %s', (_, open) => {
  let folder: string;
  let store: RegistryStore;
  let ask: AskRegistry;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'registry-'));
    store = await open(folder);
    ask = askOf(createRegistry({ store }));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const get = (target: string) => ask('GET', target);

  describe('tags', () => {
    it('leave what they pointed to before within reach of its digest', async () => {
      const first = await pushPackage(ask, 'demo/a', 'v1', ['one']);
      const second = await pushPackage(ask, 'demo/a', 'v1', ['two']);
      expect((await get('/v2/demo/a/manifests/v1')).headers['docker-content-digest']).toBe(second);
      expect((await get(`/v2/demo/a/manifests/${first}`)).status).toBe(200);
      expect((await get('/v2/demo/a/tags/list')).json.tags).toEqual(['v1']);
      expect((await get(`/v2/demo/a/blobs/${sha256('one')}`)).bytes.toString()).toBe('one');
    });

    it('go alone, and take nothing along', async () => {
      const digest = await pushPackage(ask, 'demo/a', 'v1', ['one']);
      expect((await ask('DELETE', '/v2/demo/a/manifests/v1')).status).toBe(202);
      expect((await get('/v2/demo/a/manifests/v1')).status).toBe(404);
      expect((await get(`/v2/demo/a/manifests/${digest}`)).status).toBe(200);
      expect((await ask('DELETE', '/v2/demo/a/manifests/v1')).code).toBe('MANIFEST_UNKNOWN');
    });

    it('all go with their manifest', async () => {
      const digest = await pushPackage(ask, 'demo/a', 'v1', ['one']);
      await pushPackage(ask, 'demo/a', 'v2', ['one']);
      const other = await pushPackage(ask, 'demo/a', 'v3', ['two']);
      expect((await ask('DELETE', `/v2/demo/a/manifests/${digest}`)).status).toBe(202);
      expect((await get('/v2/demo/a/tags/list')).json.tags).toEqual(['v3']);
      expect((await get(`/v2/demo/a/manifests/${other}`)).status).toBe(200);
    });

    it('change nothing when they say what they said before', async () => {
      await pushPackage(ask, 'demo/a', 'v1', ['one']);
      const before = store.readRoots();
      await pushPackage(ask, 'demo/a', 'v1', ['one']);
      expect(store.readRoots()).toBe(before);
    });

    it('change only from what the client has seen, where it says so', async () => {
      const first = await pushPackage(ask, 'demo/a', 'v1', ['one']);
      await pushBlob(ask, 'demo/a', 'two');
      const put = (headers: Record<string, string>) =>
        ask('PUT', '/v2/demo/a/manifests/v1', { headers: { 'Content-Type': manifestType, ...headers }, body: toManifest(['two']).text });
      expect((await put({ 'If-Match': `"${sha256('another')}"` })).status).toBe(412);
      expect((await put({ 'If-None-Match': '*' })).status).toBe(412);
      expect((await get('/v2/demo/a/manifests/v1')).headers['docker-content-digest']).toBe(first);
      expect((await put({ 'If-Match': `"${first}"` })).status).toBe(201);
      expect((await put({ 'If-Match': `"${first}"` })).status).toBe(412);
    });
  });

  describe('repositories', () => {
    it('see nothing of each other', async () => {
      const digest = await pushPackage(ask, 'demo/a', 'v1', ['one']);
      await pushPackage(ask, 'demo/b', 'v1', ['two']);
      expect((await get(`/v2/demo/b/manifests/${digest}`)).code).toBe('MANIFEST_UNKNOWN');
      expect((await get(`/v2/demo/b/blobs/${sha256('one')}`)).code).toBe('BLOB_UNKNOWN');
      const stolen = await ask('PUT', '/v2/demo/b/manifests/v2', { headers: { 'Content-Type': manifestType }, body: toManifest(['one']).text });
      expect(stolen.code).toBe('MANIFEST_BLOB_UNKNOWN');
      expect(stolen.json.errors[0]?.detail).toEqual([{ digest: sha256('one') }]);
    });

    it('lose a manifest each by itself', async () => {
      const digest = await pushPackage(ask, 'demo/a', undefined, ['one']);
      await pushPackage(ask, 'demo/b', undefined, ['one']);
      expect((await ask('DELETE', `/v2/demo/a/manifests/${digest}`)).status).toBe(202);
      expect((await get(`/v2/demo/a/manifests/${digest}`)).status).toBe(404);
      expect((await get(`/v2/demo/b/manifests/${digest}`)).status).toBe(200);
    });

    it('show what the store was given by others, children of indexes and what is attached included', async () => {
      const blob = async (content: string) => store.put({ kind: 'bytes', bytes: Buffer.from(content) });
      for (const content of ['{}', 'one', 'note']) await blob(content);
      const child = toManifest(['one']);
      const toDescriptor = (text: string, mediaType: string) => ({ mediaType, digest: sha256(text), size: Buffer.byteLength(text) });
      const index = JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: [toDescriptor(child.text, manifestType)] });
      const note = toManifest(['note'], { artifactType: 'application/vnd.note', subject: toDescriptor(index, indexType), annotations: { by: 'me' } });
      for (const text of [child.text, index, note.text]) await blob(text);
      await store.changeRoots((roots) => [
        ...roots,
        { name: 'team/model:1.0', descriptor: toDescriptor(index, indexType) },
        { descriptor: toDescriptor(note.text, manifestType) },
        { name: 'registry.example.com/hidden:v1', descriptor: toDescriptor(child.text, manifestType) },
      ]);
      expect((await get('/v2/_catalog')).json).toEqual({ repositories: ['team/model'] });
      expect((await get(`/v2/team/model/manifests/${child.digest}`)).status).toBe(200);
      expect((await get(`/v2/team/model/blobs/${sha256('one')}`)).status).toBe(200);
      expect((await get(`/v2/team/model/blobs/${sha256('note')}`)).status).toBe(200);
      const { manifests } = (await get(`/v2/team/model/referrers/${sha256(index)}`)).json;
      expect(manifests).toEqual([{ ...toDescriptor(note.text, manifestType), artifactType: 'application/vnd.note', annotations: { by: 'me' } }]);
      expect((await ask('DELETE', `/v2/team/model/manifests/${child.digest}`)).status).toBe(405);
      const served = askOf(createRegistry({ store, hosts: ['registry.example.com'] }));
      expect((await served('GET', '/v2/_catalog')).json).toEqual({ repositories: ['hidden', 'team/model'] });
      expect((await served('GET', '/v2/hidden/manifests/v1')).headers['docker-content-digest']).toBe(child.digest);
    });

    it('are one for all tags of a layout that another tool wrote', async () => {
      const { text, digest } = toManifest([]);
      await store.put({ kind: 'bytes', bytes: Buffer.from('{}') });
      await store.put({ kind: 'bytes', bytes: Buffer.from(text) });
      await store.changeRoots(() => [{ name: 'v1', descriptor: { mediaType: manifestType, digest, size: text.length } }]);
      expect((await get('/v2/_catalog')).json).toEqual({ repositories: [] });
      const own = askOf(createRegistry({ store, ownRepository: 'digits' }));
      expect((await own('GET', '/v2/digits/manifests/v1')).status).toBe(200);
      await pushPackage(own, 'digits', 'v1', ['new']);
      expect(store.readRoots().map(({ name }) => name)).toContain('v1');
    });
  });

  describe('blobs', () => {
    it('stay while a manifest needs them', async () => {
      const digest = await pushPackage(ask, 'demo/a', 'v1', ['one']);
      const refused = await ask('DELETE', `/v2/demo/a/blobs/${sha256('one')}`);
      expect(refused.status).toBe(405);
      expect(refused.json.errors[0]?.message).toContain(digest);
      await ask('DELETE', `/v2/demo/a/manifests/${digest}`);
      expect((await ask('DELETE', `/v2/demo/a/blobs/${sha256('one')}`)).status).toBe(202);
      expect((await get(`/v2/demo/a/blobs/${sha256('one')}`)).status).toBe(404);
    });

    it('are mounted from where they are, with and without saying where', async () => {
      await pushBlob(ask, 'demo/a', 'one');
      expect((await ask('POST', `/v2/demo/b/blobs/uploads/?mount=${sha256('one')}&from=demo/a`)).status).toBe(201);
      expect((await ask('POST', `/v2/demo/c/blobs/uploads/?mount=${sha256('one')}`)).status).toBe(201);
      expect((await ask('POST', `/v2/demo/d/blobs/uploads/?mount=${sha256('one')}&from=demo/none`)).status).toBe(202);
      expect((await get(`/v2/demo/c/blobs/${sha256('one')}`)).bytes.toString()).toBe('one');
      expect((await get(`/v2/demo/d/blobs/${sha256('one')}`)).status).toBe(404);
    });
  });

  describe('uploads', () => {
    const begin = async () => (await ask('POST', '/v2/demo/a/blobs/uploads/')).headers['location'] ?? '';

    it('are gone on with by whoever comes last', async () => {
      const location = await begin();
      let reached = () => {};
      const isReached = new Promise<void>((resolve) => (reached = resolve));
      const endless = async function* (): ByteStream {
        yield Buffer.from('first ');
        reached();
        await new Promise<never>(() => {});
      };
      const hanging = ask('PATCH', location, { body: endless() });
      await isReached;
      const size = Number((await get(location)).headers['range']?.split('-')[1]) + 1;
      const rest = 'first second'.slice(size === 1 ? 0 : size);
      const next = await ask('PATCH', location, { body: rest });
      expect((await hanging).code).toBe('BLOB_UPLOAD_INVALID');
      expect(next.status).toBe(202);
      const whole = (await get(location)).headers['range'];
      expect(whole).toMatch(/^0-1[17]$/);
    });

    it('are not stopped by a piece that comes late', async () => {
      const location = await begin();
      await ask('PATCH', location, { headers: { 'Content-Range': '0-4' }, body: 'first' });
      let [reached, release] = [() => {}, () => {}];
      const isReached = new Promise<void>((resolve) => (reached = resolve));
      const isReleased = new Promise<void>((resolve) => (release = resolve));
      const slow = async function* (): ByteStream {
        yield Buffer.from(' sec');
        reached();
        await isReleased;
        yield Buffer.from('ond');
      };
      const goingOn = ask('PATCH', location, { headers: { 'Content-Range': '5-11' }, body: slow() });
      await isReached;
      expect((await ask('PATCH', location, { headers: { 'Content-Range': '0-4' }, body: 'first' })).status).toBe(416);
      release();
      expect((await goingOn).status).toBe(202);
      expect((await ask('PUT', `${location}?digest=${sha256('first second')}`)).status).toBe(201);
    });

    it('keep what came before a broken connection', async () => {
      const location = await begin();
      const broken = async function* (): ByteStream {
        yield Buffer.from('half');
        throw createError('registry/interrupted', { message: 'The connection is gone' });
      };
      await ask('PATCH', location, { body: broken() });
      expect((await get(location)).headers['range']).toBe('0-3');
      expect((await ask('PATCH', location, { headers: { 'Content-Range': '0-3' }, body: 'half' })).status).toBe(416);
      const done = await ask('PUT', `${location}?digest=${sha256('half and half')}`, { headers: { 'Content-Range': '4-12' }, body: ' and half' });
      expect(done.status).toBe(201);
    });

    it('say nothing of clients that went away, and of what else broke they do', async () => {
      const announced: string[] = [];
      const loud = askOf(createRegistry({ store, announce: ({ code }) => void announced.push(code) }));
      const gone = new AbortController();
      const broken = async function* (error: Error): ByteStream {
        yield Buffer.from('half');
        throw error;
      };
      const patch = async (error: Error, signal: AbortSignal) => {
        const { headers } = await loud('POST', '/v2/demo/a/blobs/uploads/');
        return (await loud('PATCH', headers['location'] ?? '', { body: broken(error), signal })).status;
      };
      const interrupted = createError('registry/interrupted', { message: 'The connection is gone' });
      expect([await patch(interrupted, gone.signal), announced]).toEqual([500, ['registry/interrupted']]);
      gone.abort();
      expect([await patch(interrupted, gone.signal), announced]).toEqual([400, ['registry/interrupted']]);
      expect(await patch(createError('bytes/io', { message: 'The disk is gone' }), gone.signal)).toBe(500);
      expect(announced).toEqual(['registry/interrupted', 'bytes/io']);
    });

    it('do not outgrow what their range promises', async () => {
      const location = await begin();
      const longer = streamOf('abc', 'def');
      expect((await ask('PATCH', location, { headers: { 'Content-Range': '0-3' }, body: longer })).code).toBe('SIZE_INVALID');
      const shorter = await ask('PATCH', await begin(), { headers: { 'Content-Range': '0-9' }, body: streamOf('abc') });
      expect(shorter.code).toBe('SIZE_INVALID');
    });

    it('belong to their repository', async () => {
      const location = await begin();
      const foreign = location.replace('demo/a', 'demo/b');
      for (const method of ['GET', 'PATCH', 'DELETE']) expect((await ask(method, foreign)).code ?? 'none').toMatch(/BLOB_UPLOAD_UNKNOWN|none/);
      expect((await get(foreign)).status).toBe(404);
      expect((await get(location)).status).toBe(204);
    });

    it('are limited in number', async () => {
      const few = askOf(createRegistry({ store, rules: { mostUploads: 2 } }));
      const answers = [];
      for (let count = 0; count < 3; count++) answers.push(await few('POST', '/v2/demo/a/blobs/uploads/'));
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 429]);
      expect(answers[2]?.headers['retry-after']).toMatch(/^\d+$/);
    });
  });

  it('says what is its own fault to whoever runs it, and to nobody else', async () => {
    const told: Finding[] = [];
    const broken = new Proxy(store, {
      get: (target, name) =>
        name === 'readRoots'
          ? () => {
              throw new Error('/secret/place is gone');
            }
          : Reflect.get(target, name),
    });
    const answer = await askOf(createRegistry({ store: broken, announce: (finding) => told.push(finding) }))('GET', '/v2/demo/a/manifests/v1');
    expect(answer.status).toBe(500);
    expect(answer.bytes.toString()).not.toContain('secret');
    expect(told.map(({ message }) => message)).toEqual(['Cannot answer a request for manifest demo/a v1: /secret/place is gone']);
  });

  it('takes nothing when it is read-only', async () => {
    await pushPackage(ask, 'demo/a', 'v1', ['one']);
    const reading = askOf(createRegistry({ store, readOnly: true }));
    expect((await reading('GET', '/v2/demo/a/manifests/v1')).status).toBe(200);
    for (const [method, target] of [
      ['POST', '/v2/demo/a/blobs/uploads/'],
      ['PUT', '/v2/demo/a/manifests/v2'],
      ['DELETE', '/v2/demo/a/manifests/v1'],
      ['DELETE', `/v2/demo/a/blobs/${sha256('one')}`],
    ] as const) {
      const answer = await reading(method, target);
      expect([answer.status, answer.code]).toEqual([405, 'UNSUPPORTED']);
    }
  });
});
