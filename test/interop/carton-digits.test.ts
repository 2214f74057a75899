/** The digits model as a carton for each runtime, through the program as it is built: packed, shipped through a registry, tested and run. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseNpy, writeNpy } from '../../src/tensors/index.js';
import { defaultLimits } from '../../src/core/index.js';
import { startEmbeddedRegistry } from './support/embedded-registry.js';
import { root } from './support/modelport.js';
import { execute, onnxruntime, pythons } from './support/tools.js';
import { Workplace } from './support/workplace.js';

const runners = ['onnx', 'python', 'torchscript'] as const;
const env = { MODELPORT_ONNXRUNTIME: onnxruntime, MODELPORT_PYTHONS: join(pythons.numpy, '../..'), MODELPORT_PYTHON: pythons.torch };
const surroundings = { env };

let place: Workplace;
beforeAll(() => {
  place = new Workplace();
});
afterAll(() => place.close());

const example = (runner: string) => join(root, 'examples/cartons', runner);
async function pack(runner: string, folder = example(runner)): Promise<string> {
  const carton = place.path(`${runner}.carton`);
  await place.must(['pack', folder, '--format', 'carton', '-o', carton, '--quiet']);
  return carton;
}
async function json(args: readonly string[]): Promise<{ readonly code: number; readonly document: unknown }> {
  const { code, stdout } = await place.run([...args, '--json'], surroundings);
  return { code, document: JSON.parse(stdout) as unknown };
}

describe.each(runners)('the digits carton for %s', (runner) => {
  it('is valid, whole, and passes its self test', async () => {
    const carton = await pack(runner);
    expect(await json(['validate', carton, '--strict'])).toMatchObject({ code: 0, document: { valid: true, findings: [] } });
    expect(await json(['verify', carton])).toMatchObject({ code: 0, document: { ok: true, problems: [] } });
    expect(await json(['test', carton, '--allow-code'])).toMatchObject({
      code: 0,
      document: {
        passed: 1,
        failed: 0,
        skipped: 0,
        runtime: { name: runner },
        cases: [
          {
            name: 'five digits',
            outputs: [
              { name: 'logits', status: 'passed' },
              { name: 'digit', status: 'passed', maxAbsError: 0 },
            ],
          },
        ],
      },
    });
  });

  it('fails with a wrong expectation, and says by how much and where', async () => {
    const folder = place.path(`wrong-${runner}`);
    cpSync(example(runner), folder, { recursive: true });
    const file = join(folder, 'tests/logits.npy');
    const right = parseNpy(readFileSync(file), file, defaultLimits);
    if (right.kind !== 'numeric') throw new Error('The expected logits are no numbers');
    const values = new Float32Array(Uint8Array.from(right.bytes).buffer);
    values[23] = (values[23] ?? 0) + 0.25;
    writeFileSync(file, writeNpy({ ...right, bytes: new Uint8Array(values.buffer) }));
    const { code, document } = await json(['test', await pack(runner, folder), '--allow-code']);
    expect(code).toBe(1);
    expect(document).toMatchObject({
      passed: 0,
      failed: 1,
      cases: [
        {
          outputs: [
            { name: 'logits', status: 'failed', at: [2, 3] },
            { name: 'digit', status: 'passed' },
          ],
        },
      ],
    });
    const [{ outputs }] = (document as { cases: [{ outputs: { maxAbsError: number }[] }] }).cases;
    expect(outputs[0]?.maxAbsError).toBeCloseTo(0.25, 3);
  });

  it('travels through a registry and answers the same', async () => {
    const carton = await pack(runner);
    const registry = await place.open(startEmbeddedRegistry(place, ['--tmp']));
    const name = `${registry.host}/digits/${runner}:v1`;
    await place.must(['push', carton, name]);
    const back = place.path(`back-${runner}.carton`);
    await place.must(['pull', name, '-o', back]);
    expect(readFileSync(back).equals(readFileSync(carton))).toBe(true);
    const input = `pixels=@${join(example(runner), 'tests/pixels.npy')}`;
    const ran = await json(['run', name, '-i', input, '--allow-code']);
    expect(ran).toMatchObject({
      code: 0,
      document: {
        outputs: [
          { name: 'logits', datatype: 'FP32', shape: [5, 10] },
          { name: 'digit', datatype: 'INT64', shape: [5] },
        ],
      },
    });
    const { document } = await json(['run', carton, '-i', input, '--allow-code']);
    expect((document as { outputs: unknown }).outputs).toEqual((ran.document as { outputs: unknown }).outputs);
  });

  it('is opened by the library of the format', async () => {
    const carton = await pack(runner);
    const script = `import asyncio, os, sys, cartonml
async def main():
    info = await cartonml.get_model_info(sys.argv[1])
    print(info.model_name, info.runner.runner_name, [i.name for i in info.inputs], [o.name for o in info.outputs], len(info.self_tests), flush=True)
    os._exit(0)
asyncio.run(main())`;
    const { code, stdout } = execute(pythons.numpy, ['-c', script, carton], {});
    const shown = runner === 'onnx' ? 'modelport/onnx' : runner;
    expect({ code, stdout: stdout.trim() }).toEqual({
      code: 0,
      stdout: `digits-${runner} ${shown} ['pixels'] ['logits', 'digit'] 1`,
    });
  });
});

it('code does not run without consent, and graphs need none', async () => {
  expect(await json(['test', await pack('python')])).toMatchObject({ code: 3, document: { error: { code: 'runtime/no-consent' } } });
  expect(await json(['test', await pack('torchscript')])).toMatchObject({ code: 3, document: { error: { code: 'runtime/no-consent' } } });
  expect(await json(['test', await pack('onnx')])).toMatchObject({ code: 0, document: { passed: 1 } });
});
