/** Several processes at one store: none loses what another did. */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { list, pack, prune, verify } from '../../src/ops/index.js';
import { type CliEnded, runCli } from '../support/cli-process.js';
import { createWorkbench, tinyModel, type Workbench } from '../support/workbench.js';

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
  bench.write('big', Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`part-${index}.bin`, randomBytes(8 * 1024 * 1024)])));
  bench.write('tiny', tinyModel);
});
afterAll(() => bench.close());

const inHome = (home: string) => ({
  run: (...args: string[]) => runCli(args, { home: bench.path(home), cwd: bench.base }),
  context: () => bench.context({ home: bench.path(home) }),
  assertTidy: () => expect(readdirSync(bench.path(home)).filter((name) => name !== 'cache')).toEqual(['blobs', 'index.json', 'oci-layout']),
});

const done = ({ code, stderr, stdout }: CliEnded) => expect({ code, stderr, stdout }).toMatchObject({ code: 0 });

describe('at one time', () => {
  it('two pack the same folder under one name, and a third elsewhere', async () => {
    const { run, context, assertTidy } = inHome('same');
    const runs = ['same:v1', 'same:v1', 'other:v1'].map((name) => run('pack', './big', '-t', name, '--json'));
    const ended = await Promise.all(runs);
    ended.forEach(done);
    expect(new Set(ended.map(({ stdout }) => (JSON.parse(stdout) as { digest: string }).digest)).size).toBe(1);
    expect((await list({}, context())).packages.map(({ name }) => name)).toEqual(['other:v1', 'same:v1']);
    expect(await verify({}, context())).toMatchObject({ ok: true });
    expect(await prune({}, context())).toMatchObject({ removed: [] });
    assertTidy();
  });

  it('eight set names', async () => {
    const { run, context, assertTidy } = inHome('names');
    await pack({ dir: './tiny', format: 'modelpack', name: 'tiny:v0' }, context());
    const names = Array.from({ length: 8 }, (_, index) => `tiny:n${index}`);
    (await Promise.all(names.map((name) => run('tag', 'tiny:v0', name)))).forEach(done);
    expect((await list({}, context())).packages.map(({ name }) => name)).toEqual([...names, 'tiny:v0']);
    assertTidy();
  });

  it('one prunes over and over while others pack, edit and copy', async () => {
    const { run, context, assertTidy } = inHome('pruned');
    await pack({ dir: './tiny', format: 'modelpack', name: 'tiny:v1' }, context());
    const finished = new AbortController();
    const pruning = (async () => {
      while (!finished.signal.aborted) await prune({}, context());
    })();
    const work = async () => {
      done(await run('pack', './big', '-t', 'big:v1'));
      done(await run('copy', 'big:v1', './pruned.tar'));
      done(await run('edit', 'big:v1', '-t', 'big:v2', '--set', 'version=2', '--add', './tiny/README.md'));
      done(await run('rm', 'big:v1'));
      done(await run('copy', './pruned.tar', 'big:v3'));
      done(await run('convert', 'big:v3', 'big:v4', '--vintage', 'draft-2024'));
    };
    const others = Promise.all([0, 1].map(async (index) => done(await run('pack', './tiny', '-t', `tiny:p${index}`, '--set', `version=${index}`))));
    await Promise.all([work(), others]).finally(() => finished.abort());
    await pruning;
    expect(await verify({}, context())).toMatchObject({ ok: true, problems: [] });
    expect((await list({}, context())).packages.map(({ name }) => name)).toEqual(['big:v2', 'big:v3', 'big:v4', 'tiny:p0', 'tiny:p1', 'tiny:v1']);
    assertTidy();
  });

  it('one reads while another removes its name and prunes: it ends well or says what is missing', async () => {
    const { run, context } = inHome('reading');
    await pack({ dir: './big', format: 'modelpack', name: 'big:v1' }, context());
    const reading = run('unpack', 'big:v1', '-o', './read');
    await run('rm', 'big:v1');
    await prune({}, context());
    const { code, stderr } = await reading;
    if (code !== 0) expect([code, stderr]).toEqual([expect.toBeOneOf([1, 3]), expect.stringMatching(/big:v1|blob|manifest/)]);
    expect(await verify({}, context())).toMatchObject({ ok: true, checked: { files: 0 } });
  });
});
