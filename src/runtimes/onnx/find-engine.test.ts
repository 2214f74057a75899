import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEngine } from './find-engine.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-engine-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function install(place: string, manifest: unknown): string {
  const target = join(folder, place);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'package.json'), typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
  return target;
}

const manifest = (version: string) => ({ name: 'onnxruntime-node', version });
const find = (MODELPORT_ONNXRUNTIME?: string, home = join(folder, 'nowhere/modelport.js')) =>
  findEngine({ MODELPORT_ONNXRUNTIME }, pathToFileURL(home).href);

describe('findEngine', () => {
  it('looks beside modelport', () => {
    const place = install('lib/node_modules/onnxruntime-node', manifest('1.30.0'));
    expect(find(undefined, join(folder, 'lib/node_modules/modelport/dist/cli.js'))).toEqual({ kind: 'found', folder: place, version: '1.30.0' });
  });

  it('takes the folder that the variable names first, or what its node_modules holds', () => {
    const place = install('named/node_modules/onnxruntime-node', manifest('1.29.0'));
    const beside = join(folder, 'lib/node_modules/modelport/dist/cli.js');
    install('lib/node_modules/onnxruntime-node', manifest('1.30.0'));
    expect(find(join(folder, 'named'), beside)).toEqual({ kind: 'found', folder: place, version: '1.29.0' });
    expect(find(place, beside)).toEqual({ kind: 'found', folder: place, version: '1.29.0' });
  });

  it('says how to install it, where it is missing', () => {
    expect(find()).toEqual({
      kind: 'missing',
      reason: 'onnxruntime-node is not installed beside modelport',
      hint: expect.stringMatching(/npm install -g onnxruntime-node.*ONNXRUNTIME_NODE_INSTALL=skip.*MODELPORT_ONNXRUNTIME/),
    });
  });

  it.each([
    { place: 'gone', problem: 'which does not exist' },
    { place: 'empty', manifest: {}, problem: 'which holds no onnxruntime-node' },
    { place: 'other', manifest: { name: 'other', version: '1.0.0' }, problem: 'which holds no onnxruntime-node' },
    { place: 'broken', manifest: '{', problem: 'which holds no onnxruntime-node' },
  ])('says what is wrong with a $place folder', ({ place, manifest: text, problem }) => {
    const named = text === undefined ? join(folder, place) : install(place, text);
    expect(find(named)).toMatchObject({ kind: 'missing', reason: `MODELPORT_ONNXRUNTIME names ${JSON.stringify(named)}, ${problem}` });
  });

  it('takes no path that depends on the current directory', () => {
    expect(find('.')).toMatchObject({ kind: 'missing', reason: 'MODELPORT_ONNXRUNTIME names ".", which is not an absolute path' });
  });
});
