import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findModelFile } from './find-model-file.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-graph-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (...names: readonly string[]) => names.forEach((name) => writeFileSync(join(folder, name), ''));

describe('findModelFile', () => {
  it('prefers model.onnx', async () => {
    write('a.onnx', 'model.onnx', 'model.onnx.data');
    expect(await findModelFile(folder, 'm', '.onnx')).toBe(join(folder, 'model.onnx'));
  });

  it('takes the only graph, and no folder for one', async () => {
    write('net.onnx', 'net.onnx.data');
    mkdirSync(join(folder, 'model.onnx'));
    expect(await findModelFile(folder, 'm', '.onnx')).toBe(join(folder, 'net.onnx'));
  });

  it('of either kind', async () => {
    write('net.onnx', 'net.pt');
    expect(await findModelFile(folder, 'm', '.pt')).toBe(join(folder, 'net.pt'));
  });

  it('does not choose among several', async () => {
    write('b.onnx', 'a.onnx');
    await expect(findModelFile(folder, 'm', '.onnx')).rejects.toMatchObject({
      code: 'runtime/failed',
      message: 'Cannot load "m": there are 2 .onnx files ("a.onnx", "b.onnx") in the model\'s folder',
    });
  });

  it('says when there is none', async () => {
    await expect(findModelFile(folder, 'm', '.onnx')).rejects.toThrow("there is no .onnx file in the model's folder");
    await expect(findModelFile(join(folder, 'gone'), 'm', '.onnx')).rejects.toMatchObject({ code: 'runtime/failed' });
  });
});
