/** Cartons whose documents lie: carton.toml, MANIFEST, the index of tensors, links inside. What can be read is read, the rest is refused by name. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/run-cli.js';
import { pack, run } from '../../src/ops/index.js';
import { refused } from '../fixtures/carton/carton-toml.js';
import { type CartonFile, withManifest } from '../support/carton-files.js';
import {
  type CartonOutcomes,
  type CartonSandbox,
  createCartonSandbox,
  hostileCarton,
  type HostileParts,
  soundFiles,
  soundIndex,
  testedToml,
  type Verb,
  verbs,
} from '../support/hostile-carton.js';
import { expectRefusal } from '../support/hostile-carton-verdicts.js';
import { findingsOf, listComplaints } from '../support/hostile-verbs.js';
import { createMemoryIo, createMemoryStream } from '../support/memory-io.js';

let sandbox: CartonSandbox;
beforeEach(() => {
  sandbox = createCartonSandbox();
});
afterEach(() => sandbox.close());

async function tryAll(parts: HostileParts): Promise<CartonOutcomes> {
  sandbox.put(hostileCarton(parts));
  return sandbox.tryAll();
}

function expectResults(outcomes: CartonOutcomes, ...some: readonly Verb[]): void {
  for (const verb of some) expect([verb, outcomes[verb].kind]).toEqual([verb, 'result']);
}

const users: readonly Verb[] = ['unpack', 'run', 'test', 'copy to a file', 'copy to an artifact', 'copy --inflate', 'shrink'];
const zeros = '0'.repeat(64);

describe('MANIFEST', () => {
  const broken: readonly (readonly [string, (text: string) => string | Uint8Array, RegExp])[] = [
    ['CR before each line end', (text) => text.replaceAll('\n', '\r\n'), /line 1 of MANIFEST: expected 64 hex digits/],
    ['blanks around =', (text) => text.replaceAll('=', ' = '), /line 1 of MANIFEST: expected 64 hex digits/],
    ['a path twice', (text) => `${text}${text.split('\n')[1]}\n`, /line 5 of MANIFEST: "model\/a" stands in line 2 already/],
    ['a path twice with two hashes', (text) => `${text}model/a=${zeros}\n`, /line 5 of MANIFEST: "model\/a".*another hash/],
    ['an empty line', (text) => `\n${text}`, /line 1 of MANIFEST: it is empty/],
    ['a line break in a path', (text) => `model/x\ny=${zeros}\n${text}`, /line 1 of MANIFEST: expected PATH=SHA256/],
    ['itself', (text) => `MANIFEST=${zeros}\n${text}`, /line 1 of MANIFEST: MANIFEST does not belong/],
    ['LINKS', (text) => `LINKS=${zeros}\n${text}`, /line 1 of MANIFEST: LINKS does not belong/],
    ['a short hash', (text) => text.replace(/(model\/a=.*).\n/, '$1\n'), /line 2 of MANIFEST: expected 64 hex digits/],
    ['a way out', (text) => `../../x=${zeros}\n${text}`, /line 1 of MANIFEST: cannot use the path "\.\.\/\.\.\/x"/],
    ['an absolute path', (text) => `/etc/passwd=${zeros}\n${text}`, /line 1 of MANIFEST: cannot use the path "\/etc\/passwd"/],
    ['an escape sequence', (text) => `model/\u001b[2J=${zeros}\n${text}`, /line 1 of MANIFEST: cannot use the path "model\/\\u001b\[2J"/],
    ['no UTF-8', (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0x0a])]), /"MANIFEST": it is not UTF-8/],
  ];

  it.each(broken)('%s: it is read, and nothing is used', async (_, manifest, words) => {
    const outcomes = await tryAll({ manifest });
    for (const verb of users) expectRefusal(verb, outcomes, words);
    for (const verb of ['inspect', 'verify'] as const) expect(listComplaints(outcomes[verb])).toContainEqual(expect.stringMatching(words));
    expect(outcomes.validate).toMatchObject({ result: { valid: false } });
    expect(outcomes.verify).toMatchObject({ result: { ok: false } });
    expectResults(outcomes, 'cat', 'ls', 'examples');
  });

  it.each<[string, (text: string) => string, RegExp]>([
    ['capital letters', (text) => text.replace(/=.*/g, (hash) => hash.toUpperCase()), /manifest-upper-case/],
    ['another order', (text) => `${text.trim().split('\n').toReversed().join('\n')}\n`, /manifest-order/],
    ['no last line end', (text) => text.slice(0, -1), /manifest-entry/],
  ])('%s breaks a rule, and proves the files all the same', async (_, manifest, words) => {
    const outcomes = await tryAll({ manifest });
    expectResults(outcomes, ...verbs);
    expect(outcomes.verify).toMatchObject({ result: { ok: true } });
    expect(listComplaints(outcomes.validate)).toContainEqual(expect.stringMatching(words));
  });

  it.each(['model/a', 'tensor_data/x.bin', 'tensor_data/index.toml', 'carton.toml'])('another hash than %s has', async (path) => {
    const outcomes = await tryAll({ manifest: (text) => text.replace(new RegExp(`(${path}=).*`), `$1${zeros}`) });
    const words = new RegExp(`"?${path}"?: .*${zeros}, found`);
    for (const verb of ['unpack', 'copy to a file', 'copy to an artifact', 'copy --inflate', 'shrink'] as const) expectRefusal(verb, outcomes, words);
    expect(outcomes.verify).toMatchObject({ result: { ok: false } });
    expect(listComplaints(outcomes.verify)).toContainEqual(expect.stringMatching(words));
    if (path === 'tensor_data/x.bin') expect(outcomes.test).toMatchObject({ result: { passed: 0, failed: 1 } });
    else for (const verb of ['run', 'test'] as const) expectRefusal(verb, outcomes, words);
  });

  it('a member that is not there, and one that is not listed', async () => {
    const missing = await tryAll({ promised: { 'model/b': 'x' } });
    for (const verb of users) expectRefusal(verb, missing, /"model\/b" is listed in MANIFEST/);
    const unlisted = await tryAll({ members: [{ name: 'model/evil', content: 'x' }] });
    expectResults(unlisted, ...verbs);
    for (const verb of ['inspect', 'validate', 'verify', 'unpack', 'run', 'test'] as const)
      expect(listComplaints(unlisted[verb])).toContainEqual(expect.stringMatching(/"model\/evil" is not (covered by|listed in) MANIFEST/));
  });

  it('what it does not list does not run, although the model hash is the same', async () => {
    const model = { name: 'model/main.py', content: 'def get_model():\n  return 1\n' };
    const hashOf = async (parts: HostileParts) => {
      sandbox.put(hostileCarton(parts));
      const { inspect } = await sandbox.tryAll({ only: ['inspect'] });
      return inspect.kind === 'result' ? (inspect.result as { modelHash: string }).modelHash : undefined;
    };
    expect(await hashOf({ members: [model] })).toBe(await hashOf({}));
    sandbox.put(hostileCarton({ members: [model], files: { 'model/a': undefined } }));
    const outcome = await sandbox.attempt((context) => run({ location: sandbox.carton, values: ['[1]'] }, context));
    expect(listComplaints(outcome)).toContainEqual(expect.stringMatching(/Left out: "model\/main.py"/));
  });

  it('a carton.toml that it does not list does not say what runs', async () => {
    const outcomes = await tryAll({ manifest: (text) => text.replace(/^carton\.toml=.*\n/, '') });
    for (const verb of ['run', 'test'] as const) expectRefusal(verb, outcomes, /MANIFEST does not list "carton.toml"/);
  });
});

describe('carton.toml', () => {
  it.each(Object.entries(refused))('%s: every verb says it, with its place', async (name, { rule, text }) => {
    const outcomes = await tryAll({ files: { 'carton.toml': text } });
    const findings = findingsOf(outcomes.validate).filter(({ code }) => code === `carton/${rule}`);
    expect(findings).toContainEqual(expect.objectContaining({ level: 'error', where: expect.stringMatching(/^carton\.toml(:\d+:\d+)?$/) }));
    if (name !== 'noRunner' && name !== 'noVersion') expect(findings[0]?.where).toMatch(/^carton\.toml:\d+:\d+$/);
    writeTree({ 'carton.toml': text, 'model/a': 'x' });
    const packed = await sandbox.attempt((context) =>
      pack({ dir: join(sandbox.base, 'given/tree'), format: 'carton', output: join(sandbox.base, 'out/target') }, context),
    );
    expect(packed).toMatchObject({ kind: 'error', exitCode: 1, code: 'carton/cannot-write' });
  });

  it.each([
    ['nested lists', `x = ${'['.repeat(100_000)}${']'.repeat(100_000)}\n`, /nested/],
    ['nested keys', `${'a.'.repeat(20_000)}b = 1\n`, /nested deeper than 64/],
    ['more than a person writes', `# ${'x'.repeat(2_000_000)}\n`, /at most 1048576 are read/],
    ['a key of JavaScript', '__proto__ = 1\n', /unsafe/],
  ])('%s', async (_, more, words) => {
    const outcomes = await tryAll({ files: { 'carton.toml': `${testedToml}\n${more}` } });
    for (const verb of ['inspect', 'ls', 'cat', 'unpack', 'run', 'test', 'examples'] as const) expectRefusal(verb, outcomes, words);
    expect(listComplaints(outcomes.validate)).toContainEqual(expect.stringMatching(words));
  });

  it('three bytes a table: a small file does not take all memory', async () => {
    const index = `tensor = [${'{},'.repeat(1_000_001)}]\n`;
    const outcomes = await tryAll({ files: { 'tensor_data/index.toml': index } });
    for (const verb of ['inspect', 'validate'] as const)
      expect(listComplaints(outcomes[verb])).toContainEqual(expect.stringMatching(/index.toml.*more than 2000000 values/));
  });

  it('its texts do nothing to a terminal', async () => {
    const named = '\\u001b[2J\\u001b]0;owned\\u0007\\u202egnp\\u200b\\r\\n';
    const toml = testedToml
      .replace('model_name = "hostile"', `model_name = "${named}"\nmodel_description = "# ${named}\\n[x](javascript:${named})"\nlicense = "${named}"`)
      .replaceAll('"x"', `"x${named}"`)
      .replace('[[self_test]]', `[[self_test]]\nname = "${named}"\ndescription = "${named}"`);
    sandbox.put(hostileCarton({ files: { 'carton.toml': toml, 'model/\u202egnp.exe': 'x' } }));
    for (const words of [['inspect'], ['ls'], ['validate'], ['verify'], ['test'], ['run', '[1]'], ['carton', 'examples']]) {
      const [verb = '', ...rest] = words[0] === 'carton' ? [words.join(' ')] : words;
      const terminal = { columns: 80, rows: 24 };
      const io = createMemoryIo({
        stdout: createMemoryStream(terminal),
        stderr: createMemoryStream(terminal),
        env: { MODELPORT_HOME: join(sandbox.base, 'home'), HOME: sandbox.base, TMPDIR: join(sandbox.base, 'tmp'), NO_COLOR: '1' },
        cwd: sandbox.base,
      });
      const code = await runCli([...verb.split(' '), sandbox.carton, ...rest], io);
      expect([words, code === 0 || code === 1]).toEqual([words, true]);
      const shown = io.stdout.text() + io.stderr.text();
      expect(shown.length).toBeGreaterThan(0);
      expect([words, ['\u001b[2J', '\u001b]', '\u0007', '\u202e', '\u200b'].filter((evil) => shown.includes(evil))]).toEqual([words, []]);
    }
  });
});

describe('tensors', () => {
  const index = (row: string): HostileParts => ({ files: { 'tensor_data/index.toml': `[[tensor]]\nname = "x"\n${row}\ninner = []\n` } });
  const numeric = (shape: string, file = 'x.bin') => index(`dtype = "float32"\nshape = ${shape}\nfile = ${JSON.stringify(file)}`);
  const self: HostileParts = { files: { 'tensor_data/index.toml': '[[tensor]]\nname = "x"\ndtype = "nested"\ninner = ["x"]\n' } };

  it.each<[string, HostileParts, RegExp]>([
    ['a shape that does not fit its bytes', numeric('[3]'), /numeric-size.*12 bytes.*has 8/],
    ['a shape of 2^106', numeric('[9007199254740991, 9007199254740991]'), /numeric-size/],
    ['a shape beyond what is counted', numeric('[9223372036854775807]'), /numeric-size/],
    ['an empty shape with bytes', numeric('[0, 4294967296]'), /numeric-size.*0 bytes.*has 8/],
    ['a negative shape', numeric('[-2]'), /tensor-shape/],
    ['a file outside', numeric('[2]', '../../../neighbour/secret'), /tensor-file.*neighbour/],
    ['a file of the machine', numeric('[2]', '/etc/passwd'), /tensor-file.*absolute/],
    ['a file of the model', numeric('[2]', '../model/a'), /tensor-file/],
    ['a file that is not there', numeric('[2]', 'none.bin'), /none\.bin/],
    ['no such dtype', index('dtype = "float8"\nshape = [2]\nfile = "x.bin"'), /dtype/],
    ['one inside itself', self, /nested-in-nested/],
    ['an unknown name', { files: { 'carton.toml': testedToml.replaceAll('@tensor_data/x', '@tensor_data/none') } }, /self-test-reference.*none/],
  ])('%s: the self test fails, and says why', async (_, parts, words) => {
    const outcomes = await tryAll(parts);
    expectResults(outcomes, 'inspect', 'ls', 'cat', 'verify', 'unpack', 'run', 'copy to a file', 'copy to an artifact', 'shrink');
    expect(listComplaints(outcomes.validate)).toContainEqual(expect.stringMatching(words));
    expect(outcomes.validate).toMatchObject({ result: { valid: false } });
    expect(outcomes.test).toMatchObject({ result: { passed: 0, failed: 1 } });
  });

  it('symbols that disagree fail the self test, which names the input', async () => {
    const second = '[[input]]\nname = "y"\ndtype = "float32"\nshape = ["n"]\n\n[[output]]';
    const toml = testedToml
      .replace('[[output]]', second)
      .replace('{ x = "@tensor_data/x" }\nexp', '{ x = "@tensor_data/x", y = "@tensor_data/y" }\nexp');
    const rows = `${soundIndex}\n[[tensor]]\nname = "y"\ndtype = "float32"\nshape = [1]\nfile = "y.bin"\ninner = []\n`;
    const outcomes = await tryAll({ files: { 'carton.toml': toml, 'tensor_data/index.toml': rows, 'tensor_data/y.bin': Buffer.alloc(4) } });
    expect(listComplaints(outcomes.validate)).toContainEqual(expect.stringMatching(/symbol-value.*"n" is 2.*and 1/));
    expect(outcomes.test).toMatchObject({ result: { failed: 1, cases: [{ message: expect.stringMatching(/"y".*"n" is 2 already/) }] } });
  });

  it('a self test that names a file of misc/ never passes', async () => {
    const outcomes = await tryAll({ files: { 'carton.toml': testedToml.replaceAll('@tensor_data/x', '@misc/../model/a') } });
    expect(listComplaints(outcomes.validate)).toContainEqual(expect.stringMatching(/self-test-reference/));
    expect(outcomes.test).toMatchObject({ result: { passed: 0 } });
  });

  it('an example that leads out of misc/ gives nothing', async () => {
    const example = '[[example]]\ninputs = { x = "@misc/../../../neighbour/secret" }\nsample_out = {}\n\n[runner]';
    const outcomes = await tryAll({ files: { 'carton.toml': testedToml.replace('[runner]', example) } });
    expect(listComplaints(outcomes.inspect)).toContainEqual(expect.stringMatching(/bad-reference.*neighbour/));
    expect(outcomes.examples).toMatchObject({ kind: 'error', code: 'ops/path-not-found' });
  });
});

describe('links inside', () => {
  it.each([
    ['A3 out of the carton', '../../../neighbour/secret', /"model\/l" leads out of the carton/],
    ['A3 absolute', '/etc/passwd', /"model\/l" leads to the absolute path/],
    ['A6 to itself', 'l', /"model\/l" leads back to itself/],
    ['to a folder', '../tensor_data', /"model\/l".*"tensor_data"/],
    ['to nothing', 'none', /"model\/l".*"model\/none"/],
    ['with an escape sequence', 'a\u001b[2J', /"model\/l" leads nowhere/],
  ])('%s', async (_, target, words) => {
    const outcomes = await tryAll({ members: [{ name: 'model/l', content: target, mode: 0o120777 }] });
    for (const verb of users) expectRefusal(verb, outcomes, words);
    for (const verb of ['inspect', 'validate', 'verify'] as const)
      expect(listComplaints(outcomes[verb])).toContainEqual(expect.stringMatching(words));
  });

  it('A6 a loop, and a chain of a thousand', async () => {
    const chain = Array.from({ length: 1000 }, (_, at) => ({ name: `model/l${at}`, content: `l${(at + 1) % 1000}`, mode: 0o120777 }));
    for (const members of [chain.slice(0, 2).map((each, at) => ({ ...each, content: `l${1 - at}` })), chain]) {
      const outcomes = await tryAll({ members });
      for (const verb of users) expectRefusal(verb, outcomes, /link/);
    }
  });

  it('of a folder lead out as little as those of a zip', async () => {
    writeTree(withManifest({ ...soundFiles, 'misc/l': 'x' }));
    const tree = join(sandbox.base, 'given/tree');
    symlinkSync('../../../neighbour/secret', join(tree, 'model/l'));
    const outcomes = await sandbox.tryAll({
      location: tree,
      only: ['inspect', 'ls', 'validate', 'verify', 'unpack', 'run', 'copy to a file', 'copy --inflate'],
    });
    expect(JSON.stringify(outcomes)).not.toMatch(/nobody may read|model\/l"/);
    expect(outcomes.verify).toMatchObject({ result: { ok: true } });
    const packed = await sandbox.attempt((context) => pack({ dir: tree, format: 'carton', output: join(sandbox.base, 'out/target') }, context));
    expect(packed).toMatchObject({ kind: 'error', exitCode: 1 });
  });
});

function writeTree(files: Readonly<Record<string, CartonFile>>): void {
  for (const [path, file] of Object.entries(files)) {
    const place = join(sandbox.base, 'given/tree', path);
    mkdirSync(dirname(place), { recursive: true });
    if (typeof file === 'object' && 'link' in file) symlinkSync(file.link, place);
    else writeFileSync(place, file);
    if (!(typeof file === 'object' && 'link' in file)) chmodSync(place, 0o644);
  }
}
