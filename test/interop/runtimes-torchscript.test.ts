/** The runtime for TorchScript, with a real torch. */
import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NamedTensors, RunnableModel, Tensor } from '../../src/core/index.js';
import {
  describeModel,
  int32,
  ModelScene,
  numeric,
  numpyPython,
  plain,
  plainTensor,
  scalarText,
  text,
  torchPython,
} from './support/python-models.js';

const scene = new ModelScene('torchscript', torchPython);
afterAll(() => scene.close());

/** Signature and body of `forward`. */
const models = {
  dictionary: ['x: Dict[str, torch.Tensor]) -> Dict[str, torch.Tensor]', 'return {"sum": x["a"] + x["b"], "wide": x["a"].to(torch.int64)}'],
  texts: ['x: Dict[str, List[str]]) -> Dict[str, List[str]]', 'return {"y": x["a"] + ["!"]}'],
  scalar: ['x: Dict[str, str]) -> Dict[str, str]', 'return {"y": x["a"] + "!"}'],
  bare: ['x: torch.Tensor) -> torch.Tensor', 'return x * 2'],
  two: ['a: torch.Tensor, b: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]', 'return a - b, b'],
  bool: ['x: torch.Tensor) -> torch.Tensor', 'return x > 1'],
  failing: ['x: torch.Tensor) -> torch.Tensor', 'if x.numel() > 0:', '  raise ValueError("no good")', 'return x'],
} as const satisfies Record<string, readonly string[]>;

let made: string;
beforeAll(() => {
  const classes = Object.entries(models).flatMap(([name, [signature, ...body]]) => [
    `class ${name}_(torch.nn.Module):`,
    `  def forward(self, ${signature}:`,
    ...body.map((line) => `    ${line}`),
    `torch.jit.save(torch.jit.script(${name}_()), "${name}.pt")`,
  ]);
  made = scene.write({ 'make.py': ['import torch', 'from typing import Dict, List, Tuple', ...classes, ''].join('\n') });
  execFileSync(torchPython, ['make.py'], { cwd: made });
});

async function ask(
  name: keyof typeof models,
  inputs: Record<string, Tensor>,
  change: Partial<RunnableModel> = {},
): Promise<NamedTensors | undefined> {
  const folder = scene.write({ 'README.md': name });
  copyFileSync(join(made, `${name}.pt`), join(folder, 'model.pt'));
  return (await scene.ask(folder, new Map(Object.entries(inputs)), change))[0];
}

const named = (...names: string[]) => names.map((name) => ({ name }));

describe('torchscript', () => {
  it('gives a dictionary and takes one', async () => {
    const outputs = await ask('dictionary', { a: int32(1, 2), b: int32(10, 20) }, { options: { num_threads: 1n, num_interop_threads: 1n } });
    expect(plain(outputs)).toEqual({ sum: plainTensor(int32(11, 22)), wide: plainTensor(numeric('int64', [2], BigInt64Array.of(1n, 2n))) });
  });

  it('gives and takes texts', async () => {
    expect(plain(await ask('texts', { a: text('a', 'ü') }))).toEqual({ y: text('a', 'ü', '!') });
    expect(plain(await ask('scalar', { a: scalarText('a') }))).toEqual({ y: scalarText('a!') });
  });

  it('takes bare tensors, and names what comes back by the declared order', async () => {
    expect(plain(await ask('bare', { x: int32(2) }, { outputs: named('y') }))).toEqual({ y: plainTensor(int32(4)) });
    const declared = { inputs: named('first', 'second'), outputs: named('p', 'q') };
    const outputs = await ask('two', { second: int32(1), first: int32(5) }, declared);
    expect(plain(outputs)).toEqual({ p: plainTensor(int32(4)), q: plainTensor(int32(1)) });
    const failure = { code: 'runtime/bad-input', message: expect.stringContaining('takes 1 tensors, and 2') };
    await expect(ask('bare', { a: int32(1), b: int32(5) })).rejects.toMatchObject(failure);
  });

  it('names an output or input that Carton or TorchScript does not have', async () => {
    const output = { code: 'runtime/bad-output', message: expect.stringContaining('its output "output" has the dtype bool') };
    await expect(ask('bool', { x: int32(2) })).rejects.toMatchObject(output);
    const input = { code: 'runtime/bad-input', message: expect.stringContaining('its input "x" has the dtype uint16') };
    await expect(ask('bool', { x: numeric('uint16', [1], Uint16Array.of(1)) })).rejects.toMatchObject(input);
    const nested = { code: 'runtime/bad-input', message: expect.stringContaining('its input "x" is nested') };
    await expect(ask('bool', { x: { kind: 'nested', inner: [int32(1)] } })).rejects.toMatchObject(nested);
  });

  it('says the words of torch', async () => {
    await expect(ask('failing', { x: int32(2) })).rejects.toMatchObject({ code: 'runtime/failed', message: expect.stringContaining('no good') });
    await expect(scene.start(scene.write({ 'model.pt': 'no model' }))).rejects.toMatchObject({ code: 'runtime/failed' });
    await expect(scene.start(scene.write({ x: '' }))).rejects.toMatchObject({ message: expect.stringContaining('no .pt file') });
  });

  it('says that there is no GPU where one is asked for and torch has none', async () => {
    const folder = scene.write({ 'README.md': 'gpu' });
    copyFileSync(join(made, 'bare.pt'), join(folder, 'model.pt'));
    const failure = { code: 'runtime/not-available', message: expect.stringContaining('sees no GPU "7"') };
    await expect(scene.start(folder, {}, { device: '7' })).rejects.toMatchObject(failure);
  });

  it('asks several Pythons for torch, and compares its version', async () => {
    const both = new ModelScene('torchscript', numpyPython);
    const { runtime } = both;
    expect(await runtime.accepts(describeModel(), both.environment())).toMatchObject({ yes: true, version: expect.stringMatching(/^1\.13\./) });
    const newer = { yes: false, reason: expect.stringContaining('torch "=2.0", and here is 1.13') };
    expect(await runtime.accepts(describeModel({ version: '=2.0' }), both.environment())).toMatchObject(newer);
    const nowhere = { yes: false, reason: 'no torch is on this machine', hint: expect.stringContaining('pip install torch') };
    expect(await runtime.accepts(describeModel(), both.environment({ env: { MODELPORT_PYTHON: numpyPython } }))).toMatchObject(nowhere);
    both.close();
  });
});
