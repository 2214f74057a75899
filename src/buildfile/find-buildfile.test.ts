import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { defaultLimits } from '../core/index.js';
import { findBuildfile, readBuildfile } from './find-buildfile.js';

const folder = mkdtempSync(join(tmpdir(), 'buildfile-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('findBuildfile', () => {
  it('finds nothing in a folder without one', () => {
    expect(findBuildfile(['README.md', 'modelfile'])).toEqual({ path: undefined, findings: [] });
  });

  it('prefers modelport.toml, then Modelfile, and says so', () => {
    const found = findBuildfile(['.kitfile', 'Modelfile', 'modelport.toml']);
    expect(found.path).toBe('modelport.toml');
    expect(found.findings).toMatchObject([
      { level: 'note', code: 'buildfile/passed-over', where: 'Modelfile' },
      { level: 'note', code: 'buildfile/passed-over', where: '.kitfile' },
    ]);
    expect(findBuildfile(['Modelfile', 'kitfile']).path).toBe('Modelfile');
    expect(findBuildfile(['kitfile']).path).toBe('kitfile');
  });

  it('takes an explicit path', () => {
    expect(findBuildfile(['Modelfile', 'modelport.toml'], '/elsewhere/Kitfile')).toEqual({ path: '/elsewhere/Kitfile', findings: [] });
  });
});

describe('readBuildfile', () => {
  it.each([
    ['modelport.toml', '[package]\nname = "x"', 'modelport.toml'],
    ['my.Modelfile', 'NAME x', 'Modelfile'],
    ['.kitfile', 'package: {name: x}', 'Kitfile'],
  ])('reads %s', async (name, text, kind) => {
    const buildfile = await readBuildfile(write(name, text), defaultLimits);
    expect(buildfile).toMatchObject({ kind, findings: [], description: { identity: { name: 'x' }, origin: join(folder, name) } });
  });

  it('refuses what it cannot read', async () => {
    await expect(readBuildfile(join(folder, 'none.toml'), defaultLimits)).rejects.toMatchObject({ code: 'bytes/not-found' });
    await expect(readBuildfile(write('x.toml', Buffer.from([0x61, 0xff])), defaultLimits)).rejects.toMatchObject({ code: 'buildfile/syntax' });
    await expect(readBuildfile(write('bom.toml', '\ufeffa = 1'), defaultLimits)).rejects.toMatchObject({ code: 'buildfile/syntax' });
    await expect(readBuildfile(write('big.toml', '# large'), { ...defaultLimits, personFileBytes: 3 })).rejects.toMatchObject({
      code: 'bytes/limit',
    });
    await expect(readBuildfile(write('recipe', ''), defaultLimits)).rejects.toMatchObject({ code: 'buildfile/invalid' });
  });
});
