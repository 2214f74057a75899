import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFiles, readModes, sha256, sha256OfFile } from './support/folders.js';
import { Layout, putModelPack } from './support/layouts.js';
import { models } from './support/models.js';
import { forms, imageForms, Shelf } from './support/shelf.js';
import { must } from './support/tools.js';

let shelf: Shelf;
beforeAll(() => {
  shelf = new Shelf();
});
afterAll(() => shelf.close());

function makeEmpty(): string {
  const folder = shelf.path();
  mkdirSync(folder);
  return folder;
}

const layered = models.flatMap((model) => (['cnai', ...imageForms] as const).map((form) => ({ model, form })));

describe('GNU tar reads ours', () => {
  it.each(layered)('and extracts the layers of $model as $form: files, modes, the time that is set', ({ model, form }) => {
    const { path, tag } = shelf.package(model, form, 'layout');
    const layout = new Layout(path);
    const folder = makeEmpty();
    for (const { digest } of layout.manifest(tag).layers) must('tar', ['-xpf', layout.blobFile(digest), '-C', folder]);
    expect(readFiles(folder)).toEqual(readFiles(shelf.model(model)));
    expect(readModes(folder)).toEqual(readModes(shelf.model(model)));
    expect(statSync(join(folder, 'README.md')).mtimeMs).toBe(0);
  });

  it.each(models)('and finds the entries of %s owned by number, without names or times of a machine', (model) => {
    const { path, tag } = shelf.package(model, 'cnai', 'layout');
    const layout = new Layout(path);
    const listed = layout.manifest(tag).layers.map(({ digest }) => must('tar', ['--utc', '--full-time', '-tvf', layout.blobFile(digest)]));
    const lines = listed.join('').trim().split('\n');
    expect(lines.filter((line) => !/^[-rwx]{10} 0\/0 +\d+ 1970-01-01 00:00:00 /.test(line))).toEqual([]);
  });

  it.each(forms)('and takes our archive of %s apart into an OCI layout', (form) => {
    const { path, tag } = shelf.package('varied', form, 'archive');
    const folder = makeEmpty();
    must('tar', ['-xf', path, '-C', folder]);
    expect(JSON.parse(readFileSync(join(folder, 'oci-layout'), 'utf8'))).toEqual({ imageLayoutVersion: '1.0.0' });
    const blobs = readdirSync(join(folder, 'blobs/sha256'));
    expect(blobs.filter((name) => sha256OfFile(join(folder, 'blobs/sha256', name)) !== name)).toEqual([]);
    const layout = new Layout(folder);
    const { config, layers } = layout.manifest(tag);
    for (const { digest, size } of [config, ...layers]) expect(statSync(layout.blobFile(digest)).size).toBe(size);
    shelf.modelport.must(['verify', `oci:${folder}:${tag}`]);
  });
});

describe("we read GNU tar's", () => {
  it.each([
    ['.', ['./oci-layout', './index.json']],
    ['oci-layout index.json blobs', ['oci-layout', 'index.json']],
    ['blobs index.json oci-layout', ['oci-layout', 'index.json']],
  ])('archive of a layout, members %s', (members, names) => {
    const { path, tag } = shelf.package('digits', 'cncf', 'layout');
    const archive = shelf.path('layout.tar');
    must('tar', ['-C', path, '-cf', archive, ...members.split(' ')]);
    expect(must('tar', ['-tf', archive]).split('\n')).toEqual(expect.arrayContaining(names));
    const location = `oci-archive:${archive}:${tag}`;
    expect(shelf.modelport.inspect(location).digest).toBe(new Layout(path).entry(tag).digest);
    shelf.modelport.must(['verify', location]);
    expect(readFiles(shelf.modelport.unpack(location, shelf.path()))).toEqual(readFiles(shelf.model('digits')));
  });

  it.each(['gnu', 'oldgnu', 'pax', 'posix'])('%s layers: long names, unicode, modes', (format) => {
    const archive = shelf.path('layer.tar');
    must('tar', [`--format=${format}`, '-C', shelf.model('varied'), '-cf', archive, '.']);
    const layout = Layout.create(shelf.path());
    putModelPack(layout, 'v1', [{ type: 'weight.v1.tar', filepath: 'all', bytes: readFileSync(archive) }]);
    const location = `oci:${layout.folder}:v1`;
    shelf.modelport.must(['verify', location]);
    const unpacked = shelf.modelport.unpack(location, shelf.path());
    expect(readFiles(unpacked)).toEqual(readFiles(shelf.model('varied')));
    expect(readModes(unpacked)).toEqual(readModes(shelf.model('varied')));
    expect(shelf.modelport.ls(location).map(({ path }) => path)).toEqual(Object.keys(readFiles(shelf.model('varied'))));
  });

  it.each(['ustar', 'v7'])('%s layers', (format) => {
    const archive = shelf.path('layer.tar');
    must('tar', [`--format=${format}`, '-C', shelf.model('digits'), '-cf', archive, '.']);
    const layout = Layout.create(shelf.path());
    putModelPack(layout, 'v1', [{ type: 'weight.v1.tar', filepath: 'all', bytes: readFileSync(archive) }]);
    const unpacked = shelf.modelport.unpack(`oci:${layout.folder}:v1`, shelf.path());
    expect(readFiles(unpacked)).toEqual(readFiles(shelf.model('digits')));
    expect(readModes(unpacked)).toEqual(readModes(shelf.model('digits')));
  });

  it.each(['gnu', 'pax'])('%s layers with holes, of which readers make different files: refused', (format) => {
    const folder = makeEmpty();
    must('python3', ['-c', 'import sys; f = open(sys.argv[1], "wb"); f.seek(1 << 20); f.write(b"end")', join(folder, 'sparse.bin')]);
    const archive = shelf.path('layer.tar');
    must('tar', [`--format=${format}`, '--sparse', '-C', folder, '-cf', archive, 'sparse.bin']);
    expect(statSync(archive).size).toBeLessThan(1 << 20);
    expectRefused(readFileSync(archive), 'sparse');
  });

  it('two archives that were joined, of which the second would be lost: refused', () => {
    const archives = ['README.md', 'digits.onnx'].map((name) => {
      const archive = shelf.path('part.tar');
      must('tar', ['-C', shelf.model('digits'), '-cf', archive, name]);
      return readFileSync(archive);
    });
    expectRefused(Buffer.concat(archives), 'after its end');
  });

  function expectRefused(bytes: Uint8Array, reason: string): void {
    const layout = Layout.create(shelf.path());
    putModelPack(layout, 'v1', [{ type: 'weight.v1.tar', filepath: 'all', bytes }]);
    const { code, stderr } = shelf.modelport.run(['unpack', `oci:${layout.folder}:v1`, '-o', shelf.path('target')]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(reason)]);
  }

  it('compressed streams of several members and frames', () => {
    const archive = shelf.path('layer.tar');
    must('tar', ['-C', shelf.model('varied'), '-cf', archive, '.']);
    const whole = readFileSync(archive);
    const halves = [whole.subarray(0, 100_000), whole.subarray(100_000)];
    const squeeze = (tool: 'gzip' | 'zstd', half: Uint8Array): Buffer => {
      const file = shelf.path('half');
      writeFileSync(file, half);
      if (tool === 'gzip') must('gzip', ['--no-name', '--suffix', '.out', file]);
      else must('zstd', ['-q', '--long=27', file, '-o', `${file}.out`]);
      return readFileSync(`${file}.out`);
    };
    for (const tool of ['gzip', 'zstd'] as const) {
      const layout = Layout.create(shelf.path());
      const bytes = Buffer.concat(halves.map((half) => squeeze(tool, half)));
      putModelPack(layout, 'v1', [{ type: `weight.v1.tar+${tool}`, filepath: 'all', bytes, diffId: `sha256:${sha256(whole)}` }]);
      const location = `oci:${layout.folder}:v1`;
      shelf.modelport.must(['verify', location]);
      expect(readFiles(shelf.modelport.unpack(location, shelf.path()))).toEqual(readFiles(shelf.model('varied')));
    }
  });
});
