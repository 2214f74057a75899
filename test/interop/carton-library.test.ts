import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createZip, digestOf, fromBytes, openFileRanges, openZip, type ZipMember } from '../../src/bytes/index.js';
import {
  defaultLimits,
  type Description,
  emptyDescription,
  type FilesSource,
  type ModelPackage,
  silentProgress,
  type Tensor,
} from '../../src/core/index.js';
import {
  type CartonWriteOptions,
  inflateCarton,
  openMembers,
  readDocuments,
  shrinkCarton,
  verifyCarton,
  writeCarton,
  writeCartonZip,
} from '../../src/formats/carton/index.js';
import { read } from '../../src/formats/carton/read.js';
import { validate } from '../../src/formats/carton/validate.js';
import { floats, MemoryCarton, noop, richPackage, testOf, texts, writeOptions, writeToMemory } from '../support/carton-write.js';
import { makeOnnx } from '../support/onnx-model.js';
import { packageOf, part } from '../support/parts.js';

/** The library of the format's author, `cartonml-nightly`; .ci/install-peers brings it. */
const python =
  process.env['MODELPORT_INTEROP_PYTHON'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'modelport-interop/python/bin/python');

/** Prints what the library sees; leaves without cleaning up, as the library may crash while it does. */
const describeCarton = `
import asyncio, hashlib, json, os, sys
import cartonml

async def array(lazy):
    found = await lazy.get()
    return {'dtype': 'string' if found.dtype.kind == 'U' else str(found.dtype), 'shape': list(found.shape), 'data': found.flatten().tolist()}

async def values(table):
    result = {}
    for name, value in (table or {}).items():
        result[name] = hashlib.sha256(await value.read()).hexdigest() if hasattr(value, 'read') else await array(value)
    return result

async def main(path):
    info = await cartonml.get_model_info(path)
    spec = lambda each: {'name': each.name, 'dtype': each.dtype, 'shape': each.shape, 'description': each.description, 'internal_name': each.internal_name}
    print(json.dumps({
        'name': info.model_name, 'short': info.short_description, 'license': info.license, 'homepage': info.homepage, 'platforms': info.required_platforms,
        'inputs': [spec(each) for each in info.inputs or []], 'outputs': [spec(each) for each in info.outputs or []],
        'tests': [{'name': each.name, 'inputs': await values(each.inputs), 'expected': await values(each.expected_out)} for each in info.self_tests or []],
        'examples': [{'name': each.name, 'inputs': await values(each.inputs), 'outputs': await values(each.sample_out)} for each in info.examples or []],
        'misc': sorted(info.misc_files or {}),
        'runner': {'name': info.runner.runner_name, 'version': info.runner.required_framework_version, 'compat': info.runner.runner_compat_version, 'opts': info.runner.opts or {}},
    }))
    sys.stdout.flush()
    os._exit(0)

asyncio.run(main(sys.argv[1]))
`;

const shrinkByLibrary = `
import asyncio, json, os, sys
import cartonml

async def main(path, urls):
    print(await cartonml.shrink(path, json.loads(urls)))
    sys.stdout.flush()
    os._exit(0)

asyncio.run(main(*sys.argv[1:]))
`;

function runPython(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(python, ['-c', program, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The library failed (${status}): ${stderr}`);
  return stdout;
}

interface Seen {
  readonly name: string | null;
  readonly tests: readonly { readonly name: string | null; readonly inputs: unknown; readonly expected: unknown }[];
  readonly examples: readonly unknown[];
  readonly runner: unknown;
}

let folder: string;
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const see = (path: string) => JSON.parse(runPython(describeCarton, path)) as Seen & Readonly<Record<string, unknown>>;

async function writeZip(
  write: (add: (member: ZipMember) => ReturnType<Awaited<ReturnType<typeof createZip>>['add']>) => Promise<unknown>,
): Promise<string> {
  const path = join(folder, `${files++}.carton`);
  const zip = await createZip(path);
  try {
    await write((member) => zip.add(member));
    await zip.commit();
  } finally {
    await zip.close();
  }
  return path;
}

const pack = async (pkg: ModelPackage, options: Partial<CartonWriteOptions> = noop, description: Partial<Description> = {}): Promise<string> =>
  writeZip((add) => writeCarton(pkg, { ...emptyDescription, ...description }, { kind: 'zip', add }, { ...writeOptions, ...options }));

async function open<T>(path: string, work: (source: FilesSource) => Promise<T>): Promise<T> {
  const ranges = await openFileRanges(path);
  try {
    return await work({ kind: 'files', location: path, tree: await openZip(ranges, { limits: defaultLimits, where: path }) });
  } finally {
    await ranges.close();
  }
}

const readOptions = { limits: defaultLimits };
const verifyOptions = { ...readOptions, progress: silentProgress, concurrency: 2 };
const verify = (path: string) => open(path, (source) => verifyCarton(source, verifyOptions));

function manyTypes(): ModelPackage {
  const numeric = (dtype: 'int8' | 'uint64' | 'float64', array: ArrayBufferView, shape: readonly number[]): Tensor => ({
    kind: 'numeric',
    dtype,
    shape,
    bytes: Buffer.from(array.buffer, array.byteOffset, array.byteLength),
  });
  const inputs = {
    a: numeric('int8', Int8Array.of(-128, 127, 0, 1, 2, 3), [2, 3]),
    b: numeric('uint64', BigUint64Array.of(2n ** 64n - 1n), []),
    c: numeric('float64', Float64Array.of(0.1, -0), [1, 2]),
    d: texts([3, 1], '', 'a "quote" \\ and\na line', 'తెలుగు 🎉'),
    e: texts([], 'scalar'),
    f: floats([0, 3]),
  };
  const specs = Object.entries(inputs).map(([name, tensor]) => ({
    name,
    dtype: tensor.kind === 'string' ? ('string' as const) : tensor.kind === 'numeric' ? tensor.dtype : undefined,
    shape: '*',
  }));
  return packageOf([part('m')], {
    identity: { name: 'types' },
    io: { inputs: specs as ModelPackage['io']['inputs'], outputs: [{ name: 'y', dtype: 'float32', shape: 'any' }], selfTests: 1, examples: 0 },
    samples: { selfTests: [{ ...testOf(inputs, { y: floats([2, 2], 1, 2, 3, 4) }), rtol: 1e-7, atol: 1e-9 }], examples: [] },
  });
}

describe('the library opens what we write', () => {
  it('a model with everything', async () => {
    const seen = see(await pack(richPackage(), noop, { run: { options: { threads: 4, rate: 0.5, word: 'a' } } }));
    expect(seen).toMatchObject({
      name: 'demo',
      short: 'A model, 🎉',
      license: 'MIT AND (Apache-2.0 OR BSD-3-Clause)',
      homepage: 'https://example.com',
      inputs: [
        { name: 'x', dtype: 'float32', shape: ['batch', 2, null], description: 'Numbers', internal_name: 'graph/x:0' },
        { name: 's', dtype: 'string', shape: null },
      ],
      outputs: [{ name: 'y', dtype: 'int64', shape: [] }],
      misc: ['picture.png'],
      runner: { name: 'noop', version: '=1.0.0', compat: 1, opts: { threads: 4, rate: 0.5, word: 'a' } },
    });
    expect(seen.tests[0]).toEqual({
      name: 'one',
      inputs: { x: { dtype: 'float32', shape: [1, 2, 1], data: [1, 2] }, s: { dtype: 'string', shape: [2], data: ['ü', '🎉'] } },
      expected: { y: { dtype: 'int64', shape: [], data: [5] } },
    });
    expect(seen.examples).toEqual([
      {
        name: 'shown',
        inputs: { x: { dtype: 'float32', shape: [2], data: [1, 2] }, s: digestOf(Buffer.from('picture')).slice('sha256:'.length) },
        outputs: {},
      },
    ]);
  });

  it('tensors of many types, shared ones and empty ones', async () => {
    const [test] = see(await pack(manyTypes())).tests;
    expect(test?.inputs).toEqual({
      a: { dtype: 'int8', shape: [2, 3], data: [-128, 127, 0, 1, 2, 3] },
      b: { dtype: 'uint64', shape: [], data: [18446744073709552000] },
      c: { dtype: 'float64', shape: [1, 2], data: [0.1, -0] },
      d: { dtype: 'string', shape: [3, 1], data: ['', 'a "quote" \\ and\na line', 'తెలుగు 🎉'] },
      e: { dtype: 'string', shape: [], data: ['scalar'] },
      f: { dtype: 'float32', shape: [0, 3], data: [] },
    });
  });

  it.each([
    ['the smallest one', packageOf([part('m')]), noop, 'noop'],
    ['empty files', packageOf([part('a', 'other', ''), part('b', 'other', '')]), noop, 'noop'],
    ['names beyond ASCII', packageOf([part('𝒜/ü = 1.txt'), part('\uffe0')], { identity: { name: '모델\n"\'\\' } }), noop, 'noop'],
    ['python', packageOf([part('main.py', 'code'), part('requirements.txt')]), { runner: 'python', frameworkVersion: '>=3.9, <4' }, 'python'],
    ['onnx', packageOf([part('n.onnx', 'weights', makeOnnx({ external: 'w', bytes: 8 })), part('w', 'weights', '12345678')]), {}, 'modelport/onnx'],
    ['compressed weights', packageOf([part('m', 'weights', 'w'.repeat(100_000))]), { ...noop, compression: 'zstd' as const }, 'noop'],
    ['what it does not know', packageOf([part('m')]), { ...noop, unknown: { later: 1.5, modelport: { a: [1n], b: { c: true } } } }, 'noop'],
    ['platforms', packageOf([part('m')]), { ...noop, requiredPlatforms: ['x86_64-unknown-linux-gnu', 'aarch64-apple-darwin'] }, 'noop'],
  ])('%s', async (_, pkg, options, runner) => {
    const seen = see(await pack(pkg, options));
    expect(seen.name).toBe(pkg.identity.name ?? null);
    expect(seen.runner).toMatchObject({ name: runner });
  });

  it('one that was shrunk, and one that was made whole again', async () => {
    const path = await pack(richPackage());
    const links = new Map([[digestOf(Buffer.from('weights')), ['https://example.com/weights']]]);
    const small = await open(path, async (source) => {
      const documents = await readDocuments(source, readOptions);
      return writeZip((add) => shrinkCarton(documents.members, documents, links, { kind: 'zip', add }, writeOptions));
    });
    expect(see(small)).toEqual(see(path));
  });
});

describe('we open what the library writes', () => {
  it('a carton that it has packed anew: zstd members, LINKS', async () => {
    const path = await pack(richPackage());
    const weights = digestOf(Buffer.from('weights'));
    const theirs = runPython(shrinkByLibrary, path, JSON.stringify({ [weights.slice(7)]: ['https://example.com/weights'] })).trim();
    try {
      await open(theirs, async (source) => {
        const found = await read(source, readOptions);
        expect(found.linked).toEqual([
          expect.objectContaining({ path: 'model/weights.bin', digest: weights, urls: ['https://example.com/weights'] }),
        ]);
        expect(source.tree.entries.some(({ packed }) => packed?.method === 'zstd')).toBe(true);
        expect((await verifyCarton(source, verifyOptions)).problems.filter(({ level }) => level !== 'note')).toEqual([]);
        const documents = await readDocuments(source, readOptions);
        const content = { kind: 'stream', size: 7, open: async () => fromBytes(Buffer.from('weights')) } as const;
        const whole = await writeZip((add) => inflateCarton(documents.members, documents, async () => content, { kind: 'zip', add }, writeOptions));
        const listed = await Promise.all(
          [path, whole].map((each) => open(each, async ({ tree }) => tree.entries.map(({ path: name, size }) => [name, size]))),
        );
        expect(listed[1]).toEqual(listed[0]);
        expect((await verify(whole)).problems).toEqual([]);
      });
    } finally {
      rmSync(theirs, { force: true });
    }
  });

  it('one in its order and compression, and packs it in ours without a change of its hash', async () => {
    const { carton, modelHash } = await writeToMemory(richPackage(), {}, noop);
    const members = carton.added.flatMap((member) =>
      'link' in member ? [] : [{ path: member.path, content: member.content, method: member.path === 'MANIFEST' ? 'none' : 'zstd' } as const],
    );
    const [model, metadata] = [members.filter(({ path }) => path.startsWith('model/')), members.filter(({ path }) => !path.startsWith('model/'))];
    const theirs = await writeZip(async (add) => {
      for (const member of [...metadata.toReversed(), ...model.toReversed()]) await add(member);
    });
    expect(see(theirs).name).toBe('demo');
    await open(theirs, async (source) => {
      expect((await validate(source, readOptions)).filter(({ level }) => level === 'error')).toEqual([]);
      const again = new MemoryCarton();
      expect((await writeCartonZip(await openMembers(source, readOptions), again, writeOptions)).modelHash).toBe(modelHash);
      expect(again.fingerprint).toBe(carton.fingerprint);
    });
  });
});
