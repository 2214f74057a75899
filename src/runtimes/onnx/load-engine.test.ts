import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadEngine } from './load-engine.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-engine-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(code: string): void {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'onnxruntime-node', version: '1.30.0', main: 'main.js' }));
  writeFileSync(join(folder, 'main.js'), code);
}

describe('loadEngine', () => {
  it('loads it once, silent', () => {
    write('exports.Tensor = class {}; exports.InferenceSession = class {}; exports.listSupportedBackends = () => []; exports.env = {};');
    const engine = loadEngine(folder, false);
    expect(engine.env.logLevel).toBe('fatal');
    expect(loadEngine(folder, false)).toBe(engine);
  });

  it('lets it talk where somebody listens', () => {
    write('exports.Tensor = class {}; exports.InferenceSession = class {}; exports.listSupportedBackends = () => []; exports.env = {};');
    expect(loadEngine(folder, true).env).toEqual({});
  });

  it.each([
    { what: 'one without the part for this system', code: 'throw new Error("no\\nbinding \\u001b[31m")', words: 'no binding \\u{1b}[31m' },
    { what: 'another package', code: 'exports.Tensor = class {};', words: 'has no InferenceSession, listSupportedBackends' },
    { what: 'one that is nothing', code: 'module.exports = null;', words: 'has no Tensor, InferenceSession, listSupportedBackends' },
  ])('refuses $what', ({ code, words }) => {
    write(code);
    expect(() => loadEngine(folder, false)).toThrow(expect.objectContaining({ reason: 'missing', message: expect.stringContaining(words) }));
  });
});
