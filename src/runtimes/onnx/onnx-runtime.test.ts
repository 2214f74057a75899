import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunnableModel, RuntimeEnvironment } from '../../core/index.js';
import { onnxRuntime } from './onnx-runtime.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-engine-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function install(version: string): Pick<RuntimeEnvironment, 'env'> {
  const place = join(folder, version);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name: 'onnxruntime-node', version }));
  return { env: { MODELPORT_ONNXRUNTIME: place } };
}

const model: RunnableModel = { location: 'm.carton', runtime: 'modelport/onnx', options: {}, inputs: [], outputs: [] };
const accepts = (asked: Partial<RunnableModel>, environment: Partial<RuntimeEnvironment>) =>
  onnxRuntime.accepts({ ...model, ...asked }, { env: {}, home: folder, ...environment });

describe('onnxRuntime', () => {
  it('runs graphs, which are no programs, under both names', () => {
    expect(onnxRuntime).toMatchObject({ id: 'onnx', runsCode: false, names: ['modelport/onnx', 'onnx'] });
  });

  it('accepts nothing without the engine and says how to get it', async () => {
    const nowhere = { env: { MODELPORT_ONNXRUNTIME: join(folder, 'gone') } };
    const hint = expect.stringContaining('npm install -g onnxruntime-node');
    expect(await accepts({}, nowhere)).toEqual({ yes: false, reason: expect.stringContaining('does not exist'), hint });
    await expect(onnxRuntime.start(model, folder, { home: folder, ...nowhere }, 1000)).rejects.toMatchObject({ code: 'runtime/not-available', hint });
  });

  it.each([
    { asked: {}, version: '1.30.0' },
    { asked: { version: '^1.22', layoutVersion: 1 }, version: '1.30.0' },
    { asked: { version: '=1.30' }, version: '1.30.4' },
  ])('accepts $asked with $version', async ({ asked, version }) => {
    expect(await accepts(asked, install(version))).toEqual({ yes: true, version, findings: [] });
  });

  it.each([
    { asked: {}, version: '1.21.3', reason: 'onnxruntime-node 1.21.3 is older than 1.22.0' },
    { asked: { version: '=1.14.0' }, version: '1.30.0', reason: 'it asks for onnxruntime "=1.14.0", and 1.30.0 is here' },
    { asked: { version: 'new' }, version: '1.30.0', reason: '"new" is no version requirement' },
    { asked: { layoutVersion: 2 }, version: '1.30.0', reason: 'layout 2' },
  ])('does not accept $asked with $version', async ({ asked, version, reason }) => {
    expect(await accepts(asked, install(version))).toMatchObject({ yes: false, reason: expect.stringContaining(reason) });
  });

  it('accepts another version where any will do, and says so', async () => {
    expect(await accepts({ version: '=1.14.0' }, { ...install('1.30.0'), anyVersion: true })).toMatchObject({
      yes: true,
      findings: [{ level: 'warning', code: 'runtime/other-version' }],
    });
    expect(await accepts({}, { ...install('1.21.3'), anyVersion: true })).toMatchObject({ yes: false });
  });
});
