import { beforeAll, describe, expect, it } from 'vitest';
import { createMemoryIo } from '../../test/support/memory-io.js';
import { createCli, type Ops } from './cli.js';
import { findCandidates } from './completion-candidates.js';
import { shells } from './completion-scripts.js';
import { createProgram } from './program.js';
import { runCli } from './run-cli.js';

let program: Awaited<ReturnType<typeof createProgram>>;
beforeAll(async () => {
  program = await createProgram('all', createCli(createMemoryIo()));
});

const find = (line: string) => {
  const { values, wants } = findCandidates(program, line.split(' '));
  return { values: values.map(({ value }) => value), wants };
};

describe('findCandidates', () => {
  it('offers commands for the first word, and none that is hidden', () => {
    expect(find('in')).toEqual({ values: ['init', 'inspect'], wants: 'nothing' });
    expect(find('').values).not.toContain('__complete');
    expect(find('help p').values).toEqual(['pack', 'push', 'pull', 'prune']);
  });

  it('offers the commands of a group for the second word', () => {
    expect(find('registry s')).toEqual({ values: ['serve', 'scrub'], wants: 'nothing' });
    expect(find('registry ').values).toEqual(['serve', 'warm', 'gc', 'scrub']);
    expect(find('help registry g').values).toEqual(['gc']);
    expect(find('registry serve --po').values).toEqual(['--port-file']);
    expect(find('registry serve --port-file ')).toEqual({ values: [], wants: 'files' });
    expect(find('registry serve --listen ')).toEqual({ values: [], wants: 'nothing' });
    expect(find('registry scrub ')).toEqual({ values: [], wants: 'nothing' });
    expect(find('registry nope ')).toEqual({ values: [], wants: 'nothing' });
    expect(find('registry')).toEqual({ values: ['registry'], wants: 'nothing' });
  });

  it('offers the options of the command that was begun', () => {
    expect(find('inspect x --t')).toEqual({ values: ['--tensors'], wants: 'nothing' });
    expect(find('pull x --re')).toEqual({ values: ['--remote', '--referrers'], wants: 'nothing' });
    expect(find('login h --pass').values).toEqual(['--password-stdin']);
    expect(find('pack --dry')).toEqual({ values: [], wants: 'nothing' });
  });

  it('offers the choices of an option or an argument', () => {
    expect(find('ls --color a')).toEqual({ values: ['auto', 'always'], wants: 'nothing' });
    expect(find('completion ')).toEqual({ values: [...shells], wants: 'nothing' });
  });

  it('leaves places to the shell and the store', () => {
    expect(find('inspect ')).toEqual({ values: [], wants: 'files-and-names' });
    expect(find('rm a b ')).toEqual({ values: [], wants: 'files-and-names' });
    expect(find('pack -o ')).toEqual({ values: [], wants: 'files' });
    expect(find('doctor ')).toEqual({ values: [], wants: 'nothing' });
    expect(find('logout ')).toEqual({ values: [], wants: 'nothing' });
    expect(find('push ./m ')).toEqual({ values: [], wants: 'files-and-names' });
    expect(find('login h -u ')).toEqual({ values: [], wants: 'nothing' });
    expect(find('pull --ca-file ')).toEqual({ values: [], wants: 'files' });
    expect(find('nope ')).toEqual({ values: [], wants: 'nothing' });
  });
});

describe('__complete', () => {
  const complete = async (words: string[], list: () => Promise<unknown>) => {
    const io = createMemoryIo();
    const load = async () => ({ escapeForDisplay: (text: string) => text, createContext: () => ({ close: async () => {} }), list }) as unknown as Ops;
    const status = await runCli(['__complete', '--', ...words], io, load);
    return { status, out: io.stdout.text(), err: io.stderr.text() };
  };

  it('adds the names of the store where a package is meant', async () => {
    const list = async () => ({
      packages: [
        { name: 'demo/x:v1', format: 'modelpack' },
        { name: 'other', format: 'modelpack' },
        { name: null, format: 'image' },
      ],
      next: null,
    });
    expect(await complete(['inspect', 'demo/'], list)).toEqual({ status: 0, out: 'demo/x:v1\tmodelpack\n:files\n', err: '' });
  });

  it('is silent about a store that cannot be read', async () => {
    expect(await complete(['inspect', ''], () => Promise.reject(new Error('locked')))).toEqual({ status: 0, out: ':files\n', err: '' });
  });
});

describe('completion', () => {
  it.each(shells.map((shell) => [shell]))('prints a script for %s that asks the program', async (shell) => {
    const io = createMemoryIo();
    expect(await runCli(['completion', shell], io)).toBe(0);
    expect(io.stdout.text()).toContain('modelport __complete -- ');
  });
});
