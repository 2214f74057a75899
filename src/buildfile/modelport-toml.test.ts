import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Description, defaultLimits, dtypes, emptyDescription, type Finding, isToolkitError, roles, type ToolkitError } from '../core/index.js';
import { writeModelportToml } from './modelport-toml-write.js';
import { parseModelportToml } from './modelport-toml.js';

const read = (text: string): Description => parseModelportToml(text, 'm.toml', defaultLimits).description;

function refusal(text: string): ToolkitError {
  try {
    read(text);
  } catch (error) {
    if (isToolkitError(error)) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const findings = (text: string): readonly Finding[] => refusal(text).findings;

describe('parseModelportToml', () => {
  it('gives the empty description for an empty file', () => {
    expect(read('')).toEqual({ ...emptyDescription, origin: 'm.toml' });
  });

  it('reads every table', () => {
    const description = read(`
[package]
name = "digits"
version = "1.0.0"
licenses = "Apache-2.0"
created = 2026-01-31
[weights]
parameters = "0.6b"
[capabilities]
input_types = ["image"]
knowledge_cutoff = 2025-06-01T12:00:00+02:00
tool_usage = false
[files]
code = "src/**"
weights = ["*.safetensors"]
misc = ["extra/*"]
ignore = ["checkpoints/**"]
[[input]]
name = "pixels"
dtype = "float32"
shape = ["batch", "*", 64]
internal_name = "in:0"
[[output]]
name = "digit"
shape = "*"
[[self_test]]
inputs = { pixels = "./tests/x.npy" }
expected = { digit = "tests/y.npy" }
rtol = 1e-3
[[example]]
inputs = { pixels = "examples/x.png" }
[run]
runtime = "onnx"
command = ["python", "-m", "app"]
timeout = 30
[run.environment]
A = "1"
[run.options]
threads = 4
[run.resources]
memory = "1.5Gi"
shared_memory = 1024
[format.modelpack]
vintage = "cncf"
layers = { weights = "raw", doc = "tar+gzip" }
[format.carton]
links = { "a/b" = ["u"] }
`);
    expect(description).toEqual({
      origin: 'm.toml',
      identity: { name: 'digits', version: '1.0.0', licenses: ['Apache-2.0'], createdAt: '2026-01-31T00:00:00Z' },
      weights: { paramSize: '0.6B' },
      capabilities: { inputTypes: ['image'], knowledgeCutoff: '2025-06-01T12:00:00+02:00', toolUsage: false },
      files: {
        byRole: { code: ['src/**'], weights: ['*.safetensors'], other: ['extra/*'] },
        ignore: ['checkpoints/**'],
        onlyNamed: false,
        misc: ['extra/*'],
      },
      inputs: [{ name: 'pixels', dtype: 'float32', shape: ['batch', null, 64], internalName: 'in:0' }],
      outputs: [{ name: 'digit', shape: '*' }],
      selfTests: [{ inputs: { pixels: './tests/x.npy' }, expected: { digit: 'tests/y.npy' }, rtol: 1e-3 }],
      examples: [{ inputs: { pixels: 'examples/x.png' }, sampleOut: {} }],
      run: {
        runtime: 'onnx',
        command: ['python', '-m', 'app'],
        timeout: 30,
        environment: { A: '1' },
        options: { threads: 4 },
        resources: { memory: 1.5 * 2 ** 30, sharedMemory: 1024 },
      },
      typedOptions: { threads: 4n },
      format: { modelpack: { vintage: 'cncf', layers: { weights: 'raw', doc: 'tar+gzip' } }, carton: { links: { 'a/b': ['u'] } } },
    });
    expect(Object.keys(description.files.byRole)).toEqual(['code', 'weights', 'other']);
  });

  it('reads the file of the digits example', () => {
    const text = readFileSync(new URL('../../examples/digits/modelport.toml', import.meta.url), 'utf8');
    expect(read(text)).toMatchObject({
      identity: { name: 'digits' },
      inputs: [{ name: 'pixels' }],
      outputs: [{ name: 'logits' }, { name: 'digit' }],
    });
  });

  it('places a syntax error', () => {
    expect(refusal('[package]\nname = \n')).toMatchObject({ code: 'buildfile/syntax', where: 'm.toml:2:8' });
  });

  it.each([
    ['[package]\nnmae = "x"', '2:1', 'nmae', 'Did you mean "name"?'],
    ['[pakage]', '1:2', 'pakage', 'Did you mean "package"?'],
    ['[format.onnx]', '1:9', 'onnx', 'Known are: modelpack, mlarchive, carton, map'],
    ['[package]\n  version = 3', '2:3', 'expected text in quotes', undefined],
    ['package = 3', '1:1', 'expected a table', undefined],
    ['[package]\ncreated = 2023-02-30', '2:1', '2023-02-30', undefined],
    ['[package]\ncreated = 2023-02-01T10:00:00', '2:1', 'offset', undefined],
    ['[package]\nlicenses = ["MIT",\n  3]', '3:3', 'package.licenses[1] = 3', undefined],
    ['[capabilities]\ninput_types = ["text", "smell"]', '2:24', 'text, image, audio', undefined],
    ['[capabilities]\nlanguages = ["eng"]', '2:14', 'two small letters', undefined],
    ['[weights]\nparameters = "lots"', '2:1', '0.6B', undefined],
    ['[weights]\nparameters = -1', '2:1', 'not negative', undefined],
    ['[weights]\nparameters = 1.5', '2:1', 'whole number', undefined],
    ['[[package]]', '1:3', 'package = [{}]: expected a table', undefined],
    ['[run]\nenvironment = ["A"]', '2:1', 'expected a table', undefined],
    ['[files]\nweights = ["**.bin"]', '2:12', '** must stand alone', undefined],
    ['[files]\nweights = ["../x"]', '2:12', 'leads out', undefined],
    ['[[input]]\nname = "x"\ndtype = "flot32"', '3:1', '"float32"', undefined],
    ['[[input]]\nname = "x"\ndtype = "FP16"', '3:1', '"float16"', undefined],
    ['[[input]]\nname = "x"\n[[input]]\nname = "y"\nshape = [-1]', '5:1', 'input[1].shape', undefined],
    ['[[input]]\nname = "x"\n[[input]]\nname = "x"', '4:1', 'another input', undefined],
    ['[[output]]\ndtype = "bool"', '1:3', 'the key "name" is missing', undefined],
    ['[[self_test]]\ninputs = { x = "/etc/passwd" }', '2:12', 'it is absolute', undefined],
    ['[[self_test]]\ninputs = { x = "a/../../b" }', '2:12', '..', undefined],
    ['[[input]]\nname = "pixels"\n[[self_test]]\ninputs = { pixel = "a" }', '4:12', 'no [[input]] is named "pixel"', 'Did you mean "pixels"?'],
    ['[run]\ntimeout = -3', '2:1', 'not negative', undefined],
    ['[run.environment]\nA = 1', '2:1', 'expected text in quotes', undefined],
    ['[run.resources]\nmemory = "4Gx"', '2:1', '"4Gi"', undefined],
    ['[format.modelpack]\nvintage = "newest"', '2:1', '"cncf"', undefined],
    ['[format.modelpack]\nlayers = { weights = "zip" }', '2:12', '"tar+zstd"', undefined],
  ])('refuses %j at %s', (text, place, words, hint) => {
    const [first, ...others] = findings(text);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ level: 'error', code: 'buildfile/invalid', where: `m.toml:${place}` });
    expect(first?.message).toContain(words);
    if (hint !== undefined) expect(first?.hint).toBe(hint);
  });

  it('tells all problems at once, in their order', () => {
    const error = refusal('[run]\ntimeout = "x"\n[package]\nname = 1\nbad = 2');
    expect(error.findings.map((finding) => finding.where)).toEqual(['m.toml:2:1', 'm.toml:4:1', 'm.toml:5:1']);
    expect(error).toMatchObject({ code: 'buildfile/invalid', where: 'm.toml:2:1' });
    expect(error.message).toContain('(and 2 more)');
  });

  it.each([
    ['a byte-order mark', '\ufeff[package]', 'buildfile/syntax'],
    ['__proto__', '__proto__ = 1', 'buildfile/syntax'],
    ['a long integer', '[run.options]\nseed = 9007199254740993', 'buildfile/syntax'],
    ['deep brackets', `a = ${'['.repeat(100_000)}`, 'buildfile/syntax'],
    ['deep dotted keys', `${Array.from({ length: 50_000 }, () => 'a').join('.')} = 1`, 'buildfile/syntax'],
    ['a large file', `# ${'x'.repeat(defaultLimits.personFileBytes)}`, 'bytes/limit'],
  ])('refuses %s', (_, text, code) => {
    expect(refusal(text).code).toBe(code);
  });

  it('finds where a pattern was written', () => {
    const parsed = parseModelportToml('[files]\ndoc = [\n  "a",\n  "b",\n]', 'm.toml', defaultLimits);
    expect(parsed.findGlobPlace('b')).toBe('m.toml:4:3');
    expect(parsed.findGlobPlace('c')).toBeUndefined();
  });
});

describe('writeModelportToml', () => {
  const word = fc.string({ unit: 'grapheme', maxLength: 20 });
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((key) => key !== '__proto__');
  const key = name.filter((text) => !['constructor', 'prototype'].includes(text));
  const path = fc.stringMatching(/^[a-z]{1,8}\/[a-zA-Z0-9_ ]{1,8}\.npy$/);
  const instant = fc.constantFrom('2026-01-31T00:00:00Z', '1999-12-31T23:59:59.123456789+05:30');
  const partial = <T>(model: { [Key in keyof T]: fc.Arbitrary<NonNullable<T[Key]>> }): fc.Arbitrary<T> =>
    fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<T>;
  const size = fc.oneof(fc.nat(), fc.constantFrom('batch', 'Größe'), fc.constant(null));
  const tensor = fc.record(
    {
      name,
      dtype: fc.constantFrom(...dtypes.map((row) => row.name)),
      shape: fc.oneof(fc.constant('*' as const), fc.array(size, { maxLength: 4 })),
      description: word,
      internalName: word,
    },
    { requiredKeys: ['name'] },
  );
  const tensors = fc.uniqueArray(tensor, { maxLength: 3, selector: (one) => one.name });
  const files = fc.dictionary(key, path, { maxKeys: 2 });
  const plain = fc.letrec((tie) => ({
    value: fc.oneof(
      word,
      fc.boolean(),
      fc.integer(),
      fc.double({ noNaN: true }).map((one) => one + 0),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(key, tie('value'), { maxKeys: 2 }),
    ),
  })).value;
  const glob = fc.constantFrom('*.bin', 'data/**', 'a[0-9]?', 'with blank "quoted"');
  const table = fc.dictionary(key, plain, { maxKeys: 3 });
  const bytes = fc.oneof(fc.nat(), fc.constantFrom(2 ** 30, 3 * 2 ** 40));

  const description = fc.record({
    identity: partial<Description['identity']>({
      name,
      version: word,
      title: word,
      description: fc.array(word, { maxLength: 3 }).map((lines) => lines.join('\n')),
      licenses: fc.array(word, { maxLength: 2 }),
      authors: fc.array(word, { maxLength: 2 }),
      vendor: word,
      family: word,
      homepage: word,
      repository: word,
      documentation: word,
      datasets: fc.array(word, { maxLength: 2 }),
      revision: word,
      createdAt: instant,
    }),
    weights: fc.oneof(
      partial<Description['weights']>({ architecture: word, format: word, parameters: fc.maxSafeNat(), precision: word, quantization: word }),
      partial<Description['weights']>({ paramSize: fc.constantFrom('7B', '0.6B') }),
    ),
    capabilities: partial<Description['capabilities']>({
      inputTypes: fc.subarray(['text', 'image', 'other']),
      outputTypes: fc.subarray(['audio', 'embedding']),
      languages: fc.subarray(['en', 'de']),
      knowledgeCutoff: instant,
      reasoning: fc.boolean(),
      toolUsage: fc.boolean(),
      reward: fc.boolean(),
    }),
    files: fc.record({
      byRole: partial<Description['files']['byRole']>(Object.fromEntries(roles.map((role) => [role, fc.array(glob, { maxLength: 2 })])) as never),
      ignore: fc.array(glob, { maxLength: 2 }),
      onlyNamed: fc.constant(false),
    }),
    inputs: tensors,
    outputs: tensors,
    run: partial<Description['run']>({
      runtime: word,
      version: word,
      entrypoint: word,
      command: fc.oneof(word, fc.array(word, { maxLength: 3 })),
      environment: fc.dictionary(key, word, { maxKeys: 3 }),
      workingDirectory: word,
      timeout: fc.double({ min: 0, max: 1e9, noNaN: true }),
      options: table,
      resources: partial({ cpu: fc.constantFrom(1, 0.5), gpu: fc.nat(), memory: bytes, sharedMemory: bytes, gpuMemory: bytes }) as fc.Arbitrary<
        Record<string, unknown>
      >,
    }),
    format: partial<Record<string, Record<string, unknown>>>({ mlarchive: table, carton: table, map: table }),
  });
  const tests = fc.record({
    selfTests: fc.array(
      fc.record(
        { name: word, description: word, inputs: files, expected: files, rtol: fc.constantFrom(0, 1e-5), atol: fc.constantFrom(1e-8) },
        { requiredKeys: ['inputs'] },
      ),
      { maxLength: 2 },
    ),
    examples: fc.array(fc.record({ name: word, description: word, inputs: files, sampleOut: files }, { requiredKeys: ['inputs', 'sampleOut'] }), {
      maxLength: 2,
    }),
  });

  it('writes what reads back as the same', () => {
    fc.assert(
      fc.property(description, tests, fc.boolean(), (base, { selfTests, examples }, withTensors) => {
        const written: Description = withTensors
          ? { ...base, selfTests: [], examples: [] }
          : { ...base, inputs: [], outputs: [], selfTests, examples };
        const { typedOptions: _, ...back } = read(writeModelportToml(written));
        expect(back).toEqual({ ...written, origin: 'm.toml' });
      }),
      { numRuns: 150 },
    );
  });

  it('tells whole numbers from fractions among the options of a runner', () => {
    const { typedOptions } = read('[run.options]\na = 1\nb = 1.0\n');
    expect(typedOptions).toEqual({ a: 1n, b: 1 });
    const again = read(
      writeModelportToml({ ...emptyDescription, run: { options: { a: 1, b: 1 } }, ...(typedOptions === undefined ? {} : { typedOptions }) }),
    );
    expect(again.typedOptions).toEqual(typedOptions);
  });

  it('shows what may be filled in', () => {
    const text = writeModelportToml({ ...emptyDescription, identity: { name: 'x', description: 'one\ntwo "three"' } });
    expect(text).toContain('# licenses = ["Apache-2.0"]\n');
    expect(text).toContain('description = """\none\ntwo \\"three\\""""\n');
    expect(text).toContain('# [[input]]\n');
  });

  it('says that unnamed files are packed, where they were not before', () => {
    const text = writeModelportToml({ ...emptyDescription, files: { byRole: { weights: ['a.bin'] }, ignore: [], onlyNamed: true } });
    expect(text).toMatch(/packs only the files that it names.*\n\[files\]\nweights = \["a\.bin"\]\n/);
  });

  it('has no uncommented example, and every commented one is valid', () => {
    const text = writeModelportToml(emptyDescription);
    expect(read(text)).toEqual({ ...emptyDescription, origin: 'm.toml' });
    expect(() => read(text.replace(/^# (?=\S+ = |\[\[)/gm, ''))).not.toThrow();
  });
});
