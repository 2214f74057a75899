/** Cartons whose files lie elsewhere: made, made whole, checked, and never trusted. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect, compress, fromBytes } from '../../src/bytes/index.js';
import { type CartonBench, createCartonBench, echoModel, floatsNpy, serveWeb, sha256Of, type Web } from '../support/carton-bench.js';
import { serve } from '../support/http-bench.js';
import { listFiles } from '../support/workbench.js';

let bench: CartonBench;
beforeEach(() => {
  bench = createCartonBench();
});
afterEach(() => bench.close());

const weights = Buffer.alloc(100_000, 7);
const hash = sha256Of(weights);
const goes = async (...line: readonly string[]) => {
  const { code, document, stderr } = await bench.json(...line);
  expect({ line, code, error: document.error, stderr }).toEqual({ line, code: 0, error: undefined, stderr: '' });
  return document;
};
/** `echo.carton`, and `small.carton` without what `web` serves as weights. */
const shrunk = async (...links: readonly string[]) => {
  const { modelHash } = await bench.pack('echo', echoModel);
  return { modelHash, document: await goes('carton', 'shrink', 'echo.carton', 'small.carton', ...links.flatMap((link) => ['--link', link])) };
};
const cached = () => listFiles(bench.home).filter((path) => path.endsWith(hash));

describe('shrink and inflate', () => {
  it('by a URL, whose hash is found out', async () => {
    const web = await serveWeb({ '/w': { bytes: weights }, '/other': { bytes: 'nothing of it' } });
    const { modelHash, document } = await shrunk(`${web.url}/w`, `${web.url}/other`);
    expect(document).toMatchObject({ modelHash, left: ['model/weights.bin'], savedBytes: 100_000, unused: [`sha256:${sha256Of('nothing of it')}`] });
    expect(readFileSync(bench.path('small.carton')).byteLength).toBeLessThan(20_000);
    expect((await bench.run('cat', 'small.carton', 'LINKS')).stdout).toContain(`${hash} = [ "${web.url}/w" ]`);
    expect((await bench.run('inspect', 'small.carton')).stdout).toMatch(/Linked \(1\)\n.*\n +weights +[0-9a-f]{12} +model\/weights\.bin +http/);
    const { files } = await goes('ls', 'small.carton');
    expect(files.at(-1)).toEqual({ path: 'model/weights.bin', role: 'weights', size: null, linked: true, digest: `sha256:${hash}`, mode: null });
    expect((await bench.run('ls', '-l', 'small.carton')).stdout).toMatch(/linked .*model\/weights\.bin/);
    const url = `${web.url}/w`;
    expect(await goes('inspect', 'small.carton')).toMatchObject({ modelHash, findings: [], linked: [{ path: 'model/weights.bin', urls: [url] }] });
    expect(web.asked).toEqual(['/w', '/other']);
    expect(await goes('carton', 'inflate', 'small.carton', 'whole.carton')).toMatchObject({ modelHash });
    expect(bench.sha256('whole.carton')).toBe(bench.sha256('echo.carton'));
    expect((await bench.json('diff', 'small.carton', 'echo.carton')).document).toMatchObject({
      metadata: [],
      files: { added: [], removed: ['LINKS'], changed: [], renamed: [] },
    });
  });

  it('while it is packed, as modelport.toml says', async () => {
    const whole = await bench.pack('echo', echoModel);
    const links = `\n[format.carton]\nlinks = { "${hash}" = ["https://a.invalid/w", "https://b.invalid/w"] }\n`;
    const { modelHash } = await bench.pack('linked', { ...echoModel, 'modelport.toml': `${String(echoModel['modelport.toml'])}${links}` });
    expect(modelHash).toBe(whole.modelHash);
    const linked = [{ path: 'model/weights.bin', urls: ['https://a.invalid/w', 'https://b.invalid/w'] }];
    expect(await goes('inspect', 'linked.carton')).toMatchObject({ linked, findings: [] });
    const wrong = { ...echoModel, 'modelport.toml': `${String(echoModel['modelport.toml'])}\n[format.carton]\nlinks = { "abc" = ["u"] }\n` };
    await expect(bench.pack('wrong', wrong)).rejects.toThrow(/no SHA-256/);
    expect(existsSync(bench.path('wrong.carton'))).toBe(false);
  });

  it('by a hash that is stated, which asks nobody', async () => {
    const { document } = await shrunk(`${hash}=https://a.invalid/w`, `sha256:${hash.toUpperCase()}=https://b.invalid/w`);
    expect(document).toMatchObject({ left: ['model/weights.bin'] });
    expect((await bench.run('cat', 'small.carton', 'LINKS')).stdout).toContain('[ "https://a.invalid/w", "https://b.invalid/w" ]');
  });

  it('of an artifact, and into one', async () => {
    const web = await serveWeb({ '/w': { bytes: weights } });
    await bench.pack('echo', echoModel);
    await goes('copy', 'echo.carton', 'demo/echo:v1');
    const { modelHash } = await goes('carton', 'shrink', 'demo/echo:v1', 'demo/small:v1', '--link', `${web.url}/w`);
    expect(await goes('test', 'demo/small:v1')).toMatchObject({ passed: 1 });
    await goes('carton', 'inflate', 'demo/small:v1', 'demo/whole:v1');
    const digestOf = async (name: string) => (await goes('inspect', name)).digest;
    expect(await digestOf('demo/whole:v1')).toBe(await digestOf('demo/echo:v1'));
    expect(await goes('inspect', 'demo/small:v1')).toMatchObject({ modelHash });
    await goes('carton', 'inflate', 'demo/small:v1', 'whole.carton');
    expect(bench.sha256('whole.carton')).toBe(bench.sha256('echo.carton'));
  });

  it('by what a hub lists, page by page', async () => {
    const asked: string[] = [];
    const file = (path: string, oid: string) => ({ type: 'file', path, size: 1, oid: 'f'.repeat(40), lfs: { oid, size: 1 } });
    const { url } = await serve((request, response) => {
      asked.push(request.url ?? '');
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://hub');
      if (pathname === '/api/models/org/model/tree/refs%2Fpr%2F1' && searchParams.get('cursor') === null) {
        response.setHeader('link', `<${url}${pathname}?recursive=true&cursor=2>; rel="next"`);
        return void response.end(JSON.stringify([{ type: 'directory', path: 'sub' }, file('other.bin', 'a'.repeat(64))]));
      }
      if (searchParams.get('cursor') === '2')
        return void response.end(JSON.stringify([file('sub/the weights.bin', hash), { type: 'file', path: 'x' }]));
      if (pathname === '/org/model/resolve/refs%2Fpr%2F1/sub/the%20weights.bin') return void response.end(weights);
      response.writeHead(404).end();
    });
    await bench.pack('echo', echoModel);
    const env = { HF_ENDPOINT: url };
    const shrink = (to: string, repository: string) => bench.jsonIn(env, 'carton', 'shrink', 'echo.carton', to, '--hf', repository);
    expect(await shrink('small.carton', 'org/model@refs/pr/1')).toMatchObject({ code: 0, document: { left: ['model/weights.bin'] } });
    expect(asked).toHaveLength(2);
    await goes('carton', 'inflate', 'small.carton', 'whole.carton');
    expect(bench.sha256('whole.carton')).toBe(bench.sha256('echo.carton'));
    expect(await shrink('never.carton', 'org/none')).toMatchObject({ code: 3, document: { error: { code: 'http/unreachable-file' } } });
    expect(await shrink('never.carton', 'one-word')).toMatchObject({ code: 2 });
    expect(existsSync(bench.path('never.carton'))).toBe(false);
  });

  it('in place', async () => {
    const web = await serveWeb({ '/w': { bytes: weights } });
    await bench.pack('echo', echoModel);
    const before = bench.sha256('echo.carton');
    await goes('carton', 'shrink', 'echo.carton', 'echo.carton', '--link', `${web.url}/w`);
    expect(readFileSync(bench.path('echo.carton')).byteLength).toBeLessThan(20_000);
    await goes('carton', 'inflate', 'echo.carton', 'echo.carton');
    expect(bench.sha256('echo.carton')).toBe(before);
  });

  it('says what cannot be done', async () => {
    await bench.pack('echo', echoModel);
    bench.write('folder', { 'net.bin': 'x' });
    const web = await serveWeb({});
    for (const [line, status, code] of [
      [['shrink', 'echo.carton', 'never.carton'], 2, 'ops/bad-option'],
      [['shrink', './folder', 'never.carton', '--link', `${hash}=https://a.invalid/w`], 2, 'format/unsupported'],
      [['shrink', 'echo.carton', 'never.carton', '--link', `${web.url}/none`], 3, 'http/unreachable-file'],
      [['inflate', './folder', 'never.carton'], 2, 'format/unsupported'],
      [['links', 'check', './folder'], 2, 'format/unsupported'],
    ] as const)
      expect(await bench.json('carton', ...line)).toMatchObject({ code: status, document: { error: { code, hint: expect.any(String) } } });
    expect(existsSync(bench.path('never.carton'))).toBe(false);
  });
});

describe('what is linked is used', () => {
  it('by unpack, cat, run, verify and diff, and fetched once for all', async () => {
    const web = await serveWeb({ '/w': { bytes: weights } });
    await shrunk(`${hash}=${web.url}/w`);
    expect(await goes('verify', 'small.carton')).toMatchObject({ ok: true, problems: [{ level: 'note', where: 'model/weights.bin' }] });
    expect((await bench.run('verify', 'small.carton')).stdout).toMatch(/Verified: 5 files, .* B, 1 note\n$/);
    expect(web.asked).toEqual([]);
    expect(await goes('verify', 'small.carton', '--links')).toMatchObject({ ok: true, problems: [], checked: { files: 6 } });
    expect(web.asked).toEqual(['/w']);
    expect((await bench.run('cat', 'small.carton', 'model/weights.bin')).stdout).toBe(weights.toString());
    expect(await goes('unpack', 'small.carton', '-o', 'out')).toMatchObject({ files: 8 });
    expect(readFileSync(bench.path('out/model/weights.bin')).equals(weights)).toBe(true);
    expect(await goes('run', 'small.carton', '-i', 'x=[[1,2]]')).toMatchObject({ outputs: [{ data: [1, 2] }] });
    expect(await goes('unpack', 'small.carton', '-o', 'offline', '--offline')).toMatchObject({ files: 8 });
    expect(web.asked).toEqual(['/w']);
    expect((await goes('inspect', 'small.carton', '--links')).parts).toContainEqual(
      expect.objectContaining({ path: 'model/weights.bin', size: 100_000 }),
    );
    expect(await goes('inspect', 'small.carton', '--links')).not.toHaveProperty('linked');
    expect(await goes('validate', 'small.carton', '--links')).toMatchObject({ valid: true });
    expect(web.asked).toEqual(['/w']);
    expect(cached()).toHaveLength(1);
    expect(await goes('prune')).toMatchObject({ freedBytes: 100_000 });
    expect(cached()).toEqual([]);
  });

  it('what is damaged in the cache is fetched anew', async () => {
    const web = await serveWeb({ '/w': { bytes: weights } });
    await shrunk(`${hash}=${web.url}/w`);
    await bench.run('cat', 'small.carton', 'model/weights.bin');
    const [path = ''] = cached();
    chmodSync(`${bench.home}/${path}`, 0o644);
    writeFileSync(`${bench.home}/${path}`, Buffer.alloc(100_000, 8));
    expect((await bench.run('cat', 'small.carton', 'model/weights.bin')).stdout).toBe(weights.toString());
    expect(web.asked).toHaveLength(2);
  });

  it('tensors and pictures of samples too, and no more than those', async () => {
    await bench.pack('echo', echoModel);
    const tensor = Buffer.from(new Float32Array([1, 2]).buffer);
    const web: Web = await serveWeb({
      '/t': { bytes: tensor },
      '/p': { bytes: echoModel['media/sample.png'] as Uint8Array },
      '/w': { bytes: weights },
    });
    const links = ['/t', '/p', '/w'].map((path) => `${web.url}${path}`);
    expect(await goes('carton', 'shrink', 'echo.carton', 'small.carton', ...links.flatMap((link) => ['--link', link]))).toMatchObject({
      left: ['misc/media/sample.png', 'model/weights.bin', 'tensor_data/tensor_0.bin'],
    });
    web.asked.length = 0;
    expect((await bench.run('cat', 'small.carton', '@tensor_data/_tensor_0')).stdout).toBe(Buffer.from(floatsNpy([1, 2], 1, 2)).toString());
    expect(web.asked).toEqual(['/t']);
    expect(await goes('carton', 'examples', 'small.carton', '-o', 'shown')).toMatchObject({ files: 4, findings: [] });
    expect(web.asked).toEqual(['/t', '/p']);
    await goes('prune');
    web.asked.length = 0;
    expect(await goes('test', 'small.carton')).toMatchObject({ passed: 1, failed: 0 });
    expect(web.asked.toSorted()).toEqual(['/t', '/w']);
    await goes('copy', 'small.carton', 'demo/small:v1');
    await goes('prune');
    expect(await goes('test', 'demo/small:v1')).toMatchObject({ passed: 1, failed: 0 });
  });

  it.each<[string, (bytes: Buffer) => Uint8Array | Promise<Uint8Array>]>([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', async () => collect(compress(fromBytes(weights), 'zstd'), 1e6, 'zstd')],
  ])('%s on the way is undone before the hash', async (encoding, make) => {
    const web = await serveWeb({ '/w': { bytes: await make(weights), encoding } });
    await shrunk(`${web.url}/w`);
    await goes('carton', 'inflate', 'small.carton', 'whole.carton');
    expect(bench.sha256('whole.carton')).toBe(bench.sha256('echo.carton'));
    expect(await goes('carton', 'links', 'check', 'small.carton')).toMatchObject({ ok: true, links: [{ ok: true, encoding, bytes: 100_000 }] });
  });
});

describe('a link that does not give what it should', () => {
  const wrong = Buffer.alloc(100_000, 8);

  it.each<[string, Record<string, { bytes: Uint8Array | string; encoding?: string; status?: number }>]>([
    ['is not there', {}],
    ['lies', { '/a': { bytes: wrong } }],
    ['is cut', { '/a': { bytes: weights.subarray(1) } }],
    ['breaks', { '/a': { bytes: 'oh', status: 500 } }],
    ['is no gzip', { '/a': { bytes: weights, encoding: 'gzip' } }],
  ])('when it %s, the next URL is used', async (_, first) => {
    const web = await serveWeb({ '/b': { bytes: weights }, ...first });
    await shrunk(`${hash}=${web.url}/a`, `${hash}=${web.url}/b`);
    expect((await bench.run('cat', 'small.carton', 'model/weights.bin')).stdout).toBe(weights.toString());
    expect([web.asked[0], web.asked.at(-1)]).toEqual(['/a', '/b']);
  });

  it('no wrong byte is ever used, and each URL has its reason', async () => {
    const web = await serveWeb({ '/b': { bytes: wrong } });
    await shrunk(`${hash}=${web.url}/a?token=hunter2`, `${hash}=${web.url}/b`);
    const before = listFiles(bench.base).filter((path) => !path.startsWith('home/'));
    for (const line of [
      ['cat', 'small.carton', 'model/weights.bin'],
      ['unpack', 'small.carton', '-o', 'out'],
      ['run', 'small.carton', '-i', 'x=[[1,2]]'],
      ['carton', 'inflate', 'small.carton', 'whole.carton'],
      ['copy', 'small.carton', 'demo/whole:v1', '--inflate'],
    ]) {
      const { code, stdout, stderr } = await bench.run(...line);
      expect([line, code, stdout]).toEqual([line, 3, '']);
      expect(stderr).toMatch(/model\/weights\.bin.*\/a: .*no such file.*\/b: .*expected/s);
      expect(stderr).not.toContain('hunter2');
    }
    expect(listFiles(bench.base).filter((path) => !path.startsWith('home/'))).toEqual(before);
    expect(cached()).toEqual([]);
    expect(await bench.json('verify', 'small.carton', '--links')).toMatchObject({
      code: 1,
      document: { ok: false, problems: [{ where: 'model/weights.bin' }] },
    });
  });

  it('links check tells good from bad, also of files that are inside', async () => {
    const web = await serveWeb({ '/good': { bytes: weights }, '/bad': { bytes: wrong } });
    await shrunk(`${hash}=${web.url}/bad`);
    expect(await bench.json('carton', 'links', 'check', 'small.carton')).toMatchObject({
      code: 1,
      document: { ok: false, links: [{ path: 'model/weights.bin', url: `${web.url}/bad`, ok: false, reason: expect.stringContaining(hash) }] },
    });
    await goes('carton', 'shrink', 'small.carton', 'both.carton', '--link', `${web.url}/good`);
    expect((await goes('carton', 'links', 'check', 'both.carton'))['links']).toMatchObject([{ ok: false }, { ok: true }]);
    expect((await bench.run('carton', 'links', 'check', 'both.carton')).stdout).toMatch(/1 of 2 URLs/);
    await goes('unpack', 'both.carton', '-o', 'inside');
    web.asked.length = 0;
    expect((await goes('carton', 'links', 'check', './inside'))['links']).toMatchObject([{ path: 'model/weights.bin', ok: false }, { ok: true }]);
    expect(web.asked.toSorted()).toEqual(['/bad', '/good']);
    expect(await bench.run('carton', 'links', 'check', 'echo.carton')).toMatchObject({ code: 0, stdout: 'Nothing is linked\n' });
  });

  it('--offline names all that is missing, and asks nobody', async () => {
    const web = await serveWeb({ '/w': { bytes: weights }, '/c': { bytes: '{"layers":1}\n' } });
    await shrunk(`${hash}=${web.url}/w`, `${sha256Of('{"layers":1}\n')}=${web.url}/c`);
    for (const line of [
      ['unpack', 'small.carton', '-o', 'out'],
      ['run', 'small.carton', '-i', 'x=[[1,2]]'],
      ['carton', 'inflate', 'small.carton', 'whole.carton'],
      ['carton', 'links', 'check', 'small.carton'],
    ]) {
      const { code, document } = await bench.json(...line, '--offline');
      expect([line, code, document.error]).toMatchObject([
        line,
        3,
        { code: 'http/offline', message: expect.stringMatching(/"model\/config\.json", "model\/weights\.bin"/) },
      ]);
    }
    expect(await goes('inspect', 'small.carton', '--offline')).toMatchObject({ format: 'carton' });
    expect(web.asked).toEqual([]);
    expect(existsSync(bench.path('out')) || existsSync(bench.path('whole.carton'))).toBe(false);
  });
});
