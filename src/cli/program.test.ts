import { describe, expect, it } from 'vitest';
import { createMemoryIo, createMemoryStream } from '../../test/support/memory-io.js';
import { createCli } from './cli.js';
import { commands, isGroup } from './commands.js';
import { createProgram } from './program.js';
import { runCli } from './run-cli.js';

async function call(line: string, given: Parameters<typeof createMemoryIo>[0] = {}) {
  const io = createMemoryIo(given);
  const status = await runCli(line === '' ? [] : line.split(' '), io, () => Promise.reject(new Error('no verb is needed here')));
  return { status, out: io.stdout.text(), err: io.stderr.text() };
}

/** As they are called: `registry serve`, too. */
const paths = listPaths(commands);
const groups = listGroups(commands, '');

function listPaths(entries: typeof commands): string[] {
  return entries.flatMap((entry) => (isGroup(entry) ? listPaths(entry.commands).map((path) => `${entry.name} ${path}`) : [entry.name]));
}

function listGroups(entries: typeof commands, above: string): { readonly name: string; readonly commands: typeof commands }[] {
  return entries
    .filter(isGroup)
    .flatMap(({ name, commands: inside }) => [{ name: `${above}${name}`, commands: inside }, ...listGroups(inside, `${above}${name} `)]);
}

describe('help', () => {
  it('begins with examples and names every command in its group', async () => {
    const { status, out } = await call('--help');
    expect(status).toBe(0);
    expect(out).toMatch(/^Examples:\n/);
    for (const { name, group, summary } of commands) {
      expect(out).toContain(group);
      expect(out).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'));
    }
    expect(out).not.toContain('__complete');
  });

  it('goes to standard error, as a mistake, when nothing was asked', async () => {
    const { status, out, err } = await call('');
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toMatch(/^Examples:\n/);
  });

  it.each(paths.map((path) => [path]))('of %s begins with examples that call it, own options first', async (path) => {
    const { status, out } = await call(`${path} --help`);
    expect(status).toBe(0);
    expect(out).toMatch(new RegExp(`^Examples:\\n  # .+\\n  .*modelport ${path}`));
    expect(out).toContain(`Usage: modelport ${path} `);
    expect(out.indexOf('\nOptions:')).toBeLessThan(out.indexOf('\nCommon options:'));
    expect(await call(`help ${path}`)).toEqual({ status: 0, out, err: '' });
  });

  it.each(groups.map((group) => [group.name, group] as const))('of %s begins with examples and lists its commands', async (name, group) => {
    const { status, out, err } = await call(`${name} --help`);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toMatch(new RegExp(`^Examples:\\n  # .+\\n  modelport ${name} `));
    expect(out).toContain(`Usage: modelport ${name} `);
    for (const each of group.commands) expect(out).toMatch(new RegExp(`^  ${each.name} +${each.summary}$`, 'm'));
    expect(await call(`help ${name}`)).toEqual({ status: 0, out, err: '' });
    expect(await call(name)).toEqual({ status: 2, out: '', err: out });
  });

  it('fits into the terminal', async () => {
    const stdout = createMemoryStream({ columns: 60 });
    const { status } = await call('pack --help', { stdout, env: { NO_COLOR: '1' } });
    const described = stdout.text().split('\nUsage:')[1]?.split('\n') ?? [];
    expect(status).toBe(0);
    expect(Math.max(...described.map((line) => line.length))).toBeLessThanOrEqual(60);
  });
});

describe('wrong usage', () => {
  const cases: [line: string, cause: string, advice: string][] = [
    ['pakc', "Unknown command 'pakc'", 'Did you mean pack?'],
    ['help pakc', "Unknown command 'pakc'", 'Did you mean pack?'],
    ['registry srve', "Unknown command 'srve'", 'Did you mean serve? See `modelport registry --help`'],
    ['help registry srve', "Unknown command 'srve'", 'Did you mean serve?'],
    ['registry --quiet serve', "Unknown option '--quiet'", 'Options stand after the command'],
    ['registry serve --redonly', "Unknown option '--redonly'", 'Did you mean --read-only? See `modelport registry serve --help`'],
    ['registry serve x', "Too many arguments for 'serve'. Expected 0 arguments but got 1", 'See `modelport registry serve --help`'],
    ['registry warm x', "Required option '--dir <dir>' not specified", 'See `modelport registry warm --help`'],
    ['inspect x --tensor', "Unknown option '--tensor'", 'Did you mean --tensors?'],
    ['inspect', "Missing required argument 'location'", 'See `modelport inspect --help`'],
    ['ls a b', "Too many arguments for 'ls'. Expected 1 argument but got 2", 'See `modelport ls --help`'],
    ['unpack x', "Required option '-o, --output <dir>' not specified", 'See `modelport unpack --help`'],
    ['ls x --color blue', 'Allowed choices are auto, always, never', 'See `modelport ls --help`'],
    ['ls x --concurrency many', 'Expected a whole number from 1 to 64', 'See `modelport ls --help`'],
    ['--quiet', "Unknown option '--quiet'", 'Options stand after the command'],
    ['pack', 'Cannot pack: it is not said where the package goes', 'Add -t NAME to keep it in the local store, or -o FILE.tar'],
    ['convert a', 'Cannot convert: it is not said where the result goes', 'add -t NAME or -o FILE.tar'],
    ['convert a b -t c', 'Cannot convert to both "b" and "c"', 'Leave one of them out'],
    ['pack -o -', 'Cannot write a package to standard output', 'Name a file, such as model.tar'],
    ['copy - x', 'Cannot read a package from standard input', 'Name a folder, a file or a package'],
  ];
  it.each(cases)('%s', async (line, cause, advice) => {
    const { status, out, err } = await call(line);
    const [first, ...rest] = err.split('\n');
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(first).toMatch(/^modelport: /);
    expect(first).toContain(cause);
    expect(rest.find((text) => text.startsWith('  usage: modelport'))).toBeDefined();
    expect(rest.find((text) => text.startsWith('  hint: '))).toContain(advice);
  });
});

it('one document and an access log do not share standard output', async () => {
  const { status, out, err } = await call('registry serve --json --access-log -');
  expect({ status, err, document: JSON.parse(out) }).toMatchObject({
    status: 2,
    err: '',
    document: { error: { code: 'cli/usage', message: expect.stringContaining('Cannot write the access log'), hint: 'Name a file for the log' } },
  });
});

describe('program', () => {
  it('knows the options of the called command only', async () => {
    const program = await createProgram(['pack', 'inspect'], createCli(createMemoryIo()));
    const sizes = Object.fromEntries(program.commands.map((command) => [command.name(), command.options.length]));
    expect(sizes['pack']).toBeGreaterThan(10);
    expect([sizes['inspect'], sizes['registry']]).toEqual([0, 0]);
  });

  it('knows those of a command in a group', async () => {
    const program = await createProgram(['registry', 'gc'], createCli(createMemoryIo()));
    const group = program.commands.find((command) => command.name() === 'registry');
    const sizes = Object.fromEntries((group?.commands ?? []).map((command) => [command.name(), command.options.length]));
    expect(sizes['gc']).toBeGreaterThan(8);
    expect(sizes['serve']).toBe(0);
  });

  it('gives every option a description, and no flag twice', async () => {
    const program = await createProgram('all', createCli(createMemoryIo()));
    for (const command of program.commands.flatMap((each) => [each, ...each.commands])) {
      const flags = command.options.flatMap(({ short, long }) => [short, long]).filter((flag) => flag !== undefined);
      expect(flags).toEqual([...new Set(flags)]);
      expect(command.options.filter(({ description }) => description === '')).toEqual([]);
    }
  });
});
