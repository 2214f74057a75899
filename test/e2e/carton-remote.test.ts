/** A carton at a URL: looked at without fetching it. */
import { readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CartonBench, createCartonBench, echoModel, floatsNpy, png } from '../support/carton-bench.js';
import { type FileServer, serveFile } from '../support/file-server.js';
import { listFiles } from '../support/workbench.js';

const MiB = 1024 * 1024;
let bench: CartonBench;
let bytes: Buffer;
let modelHash: unknown;
beforeAll(async () => {
  bench = createCartonBench();
  const document = await bench.pack('echo', { ...echoModel, 'large.bin': Buffer.alloc(64 * MiB) });
  modelHash = document['modelHash'];
  bytes = readFileSync(bench.path('echo.carton'));
  rmSync(bench.path('echo'), { recursive: true });
});
afterAll(() => bench.close());

/** Bytes of each answer, as its range says. */
const sizesOf = ({ requests }: FileServer): number[] =>
  requests.map(({ range }) => {
    const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(range ?? '') ?? [];
    if (first === '' && last === '') return bytes.byteLength;
    return first === '' ? Number(last) : (last === '' ? bytes.byteLength : Number(last) + 1) - Number(first);
  });
const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);

describe('a server with ranges', () => {
  it.each([[['inspect']], [['ls']], [['validate']], [['inspect', '--tensors']]])(
    '%j costs at most 3 requests and 2 MiB of 64',
    async ([verb, ...args]) => {
      const server = await serveFile(bytes);
      const { code, document } = await bench.json(verb as string, `${server.url}/echo.carton`, ...(args ?? []));
      expect([code, document.error]).toEqual([0, undefined]);
      if (verb === 'inspect') expect(document).toMatchObject({ format: 'carton', modelHash, digest: null, identity: { name: 'echo' }, findings: [] });
      if (verb === 'ls') expect(document.files.find(({ path }) => path === 'model/large.bin')).toMatchObject({ size: 64 * MiB });
      expect(server.requests.length).toBeLessThanOrEqual(3);
      expect(sum(sizesOf(server))).toBeLessThan(2 * MiB);
    },
  );

  it('cat fetches the range of one file and no more', async () => {
    const server = await serveFile(bytes);
    const { code, stdout } = await bench.run('cat', `${server.url}/echo.carton`, 'model/config.json');
    expect([code, stdout]).toEqual([0, '{"layers":1}\n']);
    expect(sum(sizesOf(server))).toBeLessThan(1.2 * MiB);
    const far = await serveFile(bytes);
    const answer = await bench.run('cat', `${far.url}/echo.carton`, 'model/large.bin');
    expect([answer.code, answer.stdout.length]).toEqual([0, 64 * MiB]);
    expect(sum(sizesOf(far))).toBeLessThan(66 * MiB);
    expect(far.requests.length).toBeLessThanOrEqual(3);
  });

  it('samples come by one range each, or with what was read already', async () => {
    const server = await serveFile(bytes);
    expect(await bench.run('carton', 'examples', `${server.url}/echo.carton`, '-o', 'shown')).toMatchObject({ code: 0 });
    expect(readFileSync(bench.path('shown/examples/1-picture/inputs/x.png'))).toEqual(png);
    expect(readFileSync(bench.path('shown/self-tests/1-same/expected/x.npy'))).toEqual(Buffer.from(floatsNpy([1, 2], 1, 2)));
    expect(server.requests.length).toBeLessThanOrEqual(3);
    expect(sum(sizesOf(server))).toBeLessThan(2 * MiB);
  });

  it('its self tests run, and it can be copied whole', async () => {
    const server = await serveFile(bytes);
    expect(await bench.json('test', `${server.url}/echo.carton`)).toMatchObject({ code: 0, document: { passed: 1, failed: 0 } });
    expect(await bench.json('copy', `${server.url}/echo.carton`, 'copied.carton')).toMatchObject({ code: 0, document: { modelHash } });
    expect(readFileSync(bench.path('copied.carton')).equals(bytes)).toBe(true);
    expect(await bench.json('verify', `${server.url}/echo.carton`)).toMatchObject({ code: 0, document: { ok: true } });
  });

  it('what was run once is not fetched again, and prune forgets it', async () => {
    const server = await serveFile(bytes);
    const test = async () => {
      const before = server.requests.length;
      expect(await bench.json('test', `${server.url}/echo.carton`)).toMatchObject({ code: 0, document: { failed: 0 } });
      return sum(sizesOf(server).slice(before));
    };
    await bench.json('prune');
    expect(await test()).toBeGreaterThan(64 * MiB);
    expect(await test()).toBeLessThan(2 * MiB);
    expect((await bench.json('prune')).document['freedBytes']).toBeGreaterThan(64 * MiB);
    expect(await test()).toBeGreaterThan(64 * MiB);
  });

  it('a wrong byte on the way is found', async () => {
    const wrong = Buffer.from(bytes);
    wrong[wrong.indexOf('{"layers":1}') + 10] = 0x32;
    const server = await serveFile(wrong);
    expect(await bench.run('cat', `${server.url}/echo.carton`, 'model/config.json')).toMatchObject({ code: 1 });
    expect(await bench.json('verify', `${server.url}/echo.carton`)).toMatchObject({
      code: 1,
      document: { ok: false, problems: [{ where: 'model/config.json' }] },
    });
  });
});

describe('a server that is not so good', () => {
  it('without ranges: read once, all of it, and nothing stays here', async () => {
    const server = await serveFile(bytes, { ranges: 'whole' });
    expect(await bench.json('inspect', `${server.url}/echo.carton`)).toMatchObject({ code: 0, document: { modelHash } });
    expect(server.requests).toHaveLength(1);
    expect(listFiles(bench.base).filter((path) => path.startsWith('tmp') || path.includes('remote'))).toEqual([]);
  });

  it('without ranges and without a length: refused, with the reason', async () => {
    const server = await serveFile(bytes, { ranges: 'whole', chunked: true });
    const { code, document } = await bench.json('inspect', `${server.url}/echo.carton`);
    expect([code, document.error]).toMatchObject([3, { code: 'http/no-ranges', hint: expect.stringContaining('Download') }]);
  });

  it('with another file half way: refused', async () => {
    const server = await serveFile(bytes);
    server.intercept = (_request, _response, turn) => {
      if (turn > 1) server.file.etag = '"second"';
      return false;
    };
    const { code, stderr } = await bench.run('cat', `${server.url}/echo.carton`, 'model/large.bin');
    expect([code, stderr]).toEqual([3, expect.stringMatching(/another file|changed/)]);
  });

  it('without the file, or with something else in its place', async () => {
    const server = await serveFile(Buffer.from('<html>not here</html>'));
    expect((await bench.json('inspect', `${server.url}/echo.carton`)).code).toBe(1);
    server.intercept = (_request, response) => {
      response.writeHead(404).end();
      return true;
    };
    const { code, document } = await bench.json('ls', `${server.url}/echo.carton?token=hunter2`);
    expect([code, document.error]).toMatchObject([3, { code: 'http/unreachable-file', message: expect.stringMatching(/no such file/) }]);
    expect(JSON.stringify(document)).not.toContain('hunter2');
  });

  it('and with --offline no question is asked', async () => {
    const server = await serveFile(bytes);
    expect(await bench.json('inspect', '--offline', `${server.url}/echo.carton`)).toMatchObject({
      code: 3,
      document: { error: { code: 'http/offline' } },
    });
    expect(server.requests).toEqual([]);
  });
});
