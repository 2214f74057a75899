import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createZip, openFileRanges, openZip } from '../../src/bytes/index.js';
import { createCounters, defaultLimits } from '../../src/core/index.js';
import { makeBytes } from '../support/distant-blob.js';
import { readAll } from '../support/read-zip.js';
import { execute, must, orThrow } from './support/tools.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-zip-'));
  mkdirSync(join(folder, 'in/sub'), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, 'in', path), text);
  symlinkSync('a.txt', join(folder, 'in/link'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const files: Record<string, string> = {
  'a.txt': 'some text '.repeat(200),
  empty: '',
  'long.bin': makeBytes(3_000_000).toString('base64'),
  'sub/ünï.txt': 'short',
};

function mustRun(program: 'zip' | 'unzip' | 'sh', args: readonly string[], cwd = folder): string {
  return orThrow(program, args, execute(program, args, { cwd }));
}

async function readOurs(path: string): Promise<Record<string, string>> {
  const ranges = await openFileRanges(path);
  try {
    return await readAll(await openZip(ranges, { limits: defaultLimits, where: path }));
  } finally {
    await ranges.close();
  }
}

const listWithPython = `
import hashlib, json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps({e.filename: [e.file_size, e.external_attr >> 16, list(e.date_time), hashlib.sha256(archive.read(e)).hexdigest()] for e in archive.infolist()}))
`;

describe('what we write', () => {
  it.each(['none', 'deflate'] as const)('with method %s is read by Python and unzip', async (method) => {
    const path = join(folder, `ours-${method}.zip`);
    const writer = await createZip(path);
    const expected: Record<string, unknown> = {};
    for (const [name, text] of Object.entries(files)) {
      const { size, digest } = await writer.add({ path: name, content: { kind: 'bytes', bytes: Buffer.from(text) }, method });
      expected[name] = [size, 0o100644, [1980, 1, 1, 0, 0, 0], digest.slice(7)];
    }
    const { digest } = await writer.add({ path: 'link', link: 'a.txt' });
    expected['link'] = [5, 0o120777, [1980, 1, 1, 0, 0, 0], digest.slice(7)];
    await writer.commit();
    await writer.close();
    expect(JSON.parse(must('python3', ['-c', listWithPython, path]))).toEqual(expected);
    expect(mustRun('unzip', ['-t', path])).toContain('No errors detected');
    const out = join(folder, `out-${method}`);
    mustRun('unzip', ['-q', path, '-d', out]);
    for (const [name, text] of Object.entries(files)) expect(readFileSync(join(out, name), 'utf8')).toBe(text);
    expect(readFileSync(join(out, 'link'), 'utf8')).toBe(files['a.txt']);
  });

  it('above 4 GiB and with 70,000 members is read by Python and unzip', async () => {
    const path = join(folder, 'large.zip');
    const size = 0xffffffff + 10;
    const zeros = Buffer.alloc(1 << 20);
    async function* open() {
      for (let left = size; left > 0; left -= zeros.length) yield zeros.subarray(0, Math.min(left, zeros.length));
    }
    const counters = createCounters();
    const writer = await createZip(path, { counters });
    await writer.add({ path: 'large', content: { kind: 'stream', size, open: async () => open() } });
    for (let index = 0; index < 70_000; index++) await writer.add({ path: `f${index}`, content: { kind: 'bytes', bytes: Buffer.from('x') } });
    const written = await writer.commit();
    await writer.close();
    expect(counters.written).toBe(written.size);
    expect(mustRun('unzip', ['-tq', path])).toContain('No errors detected');
    expect(
      must('python3', ['-c', 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(len(z.infolist()), z.read("f69999"))', path]),
    ).toContain("70001 b'x'");
    const ranges = await openFileRanges(path);
    const tree = await openZip(ranges, { limits: defaultLimits, where: path });
    await tree.checkEntries();
    expect(tree.entries.find((entry) => entry.path === 'large')).toMatchObject({ size, packed: { method: 'none', size } });
    await ranges.close();
    rmSync(path);
  });
});

const writeWithPython = `
import os, sys, zipfile
root, target, form = sys.argv[1:]
methods = {'stored': zipfile.ZIP_STORED, 'deflated': zipfile.ZIP_DEFLATED}
class Pipe:
    def __init__(self, file): self.file = file
    def write(self, data): return self.file.write(data)
    def flush(self): self.file.flush()
with open(target, 'wb') as file, zipfile.ZipFile(Pipe(file) if form == 'streamed' else file, 'w', methods.get(form, zipfile.ZIP_DEFLATED)) as archive:
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.islink(path): continue
            with open(path, 'rb') as source, archive.open(os.path.relpath(path, root), 'w', force_zip64=form == 'zip64') as entry: entry.write(source.read())
`;

describe('we read what is written', () => {
  it.each(['stored', 'deflated', 'streamed', 'zip64'])('by Python, %s', async (form) => {
    const path = join(folder, `python-${form}.zip`);
    must('python3', ['-c', writeWithPython, join(folder, 'in'), path, form]);
    expect(await readOurs(path)).toEqual(files);
  });

  it.each([['-r'], ['-r0'], ['-ry'], ['-rD'], ['-rfz'], ['-rfz-']])('by zip %s', async (option) => {
    const path = join(folder, `info${option}.zip`);
    mustRun('zip', ['-q', option, path, '.'], join(folder, 'in'));
    expect(await readOurs(path)).toEqual({ ...files, link: option === '-ry' ? '-> a.txt' : files['a.txt'] });
  });

  it('by zip into a pipe, with data descriptors', async () => {
    const path = join(folder, 'piped.zip');
    mustRun('sh', ['-c', `zip -q -r - . | cat > ${path}`], join(folder, 'in'));
    expect(await readOurs(path)).toEqual({ ...files, link: files['a.txt'] });
  });
});
