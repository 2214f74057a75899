import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFiles, readModes, sha256OfFile } from './support/folders.js';
import { Layout, putModelPack } from './support/layouts.js';
import { models } from './support/models.js';
import { imageForms, Shelf } from './support/shelf.js';
import { must } from './support/tools.js';

let shelf: Shelf;
beforeAll(() => {
  shelf = new Shelf();
});
afterAll(() => shelf.close());

const listArchive = `
import hashlib, json, sys, tarfile
found = {}
for name in sys.argv[1:]:
    with tarfile.open(name, 'r:*') as archive:
        for entry in archive:
            if not entry.isfile(): continue
            digest = hashlib.sha256(archive.extractfile(entry).read()).hexdigest()
            found[entry.name] = [digest, format(entry.mode, 'o'), entry.uid, entry.gid, entry.uname, entry.gname, entry.mtime]
print(json.dumps(found))
`;

const writeArchive = `
import io, sys, tarfile
source, target, form = sys.argv[1:]
forms = {'pax': tarfile.PAX_FORMAT, 'gnu': tarfile.GNU_FORMAT}
with tarfile.open(target, 'w', format=forms[form]) as archive:
    archive.add(source, arcname='.', recursive=True)
`;

const encodings = ['tar', 'tar+gzip', 'tar+zstd'] as const;
const layered = models.flatMap((model) => encodings.map((encoding) => ({ model, encoding })));

describe('tarfile, gzip and zstd read ours', () => {
  it.each(layered)('$model in $encoding layers: what comes out is what diffIds say', ({ model, encoding }) => {
    const { path, tag } = shelf.package(model, 'cncf', 'layout', ['--layers', encoding]);
    const layout = new Layout(path);
    const { layers } = layout.manifest(tag);
    expect(new Set(layers.map(({ mediaType }) => mediaType.split('.v1.')[1]))).toEqual(new Set([encoding]));
    const archives = layers.map(({ digest }) => decompress(layout.blobFile(digest), encoding));
    const { modelfs } = layout.config(tag) as { modelfs: { diffIds: string[] } };
    expect(archives.map((file) => `sha256:${sha256OfFile(file)}`)).toEqual(modelfs.diffIds);

    const [files, modes] = [readFiles(shelf.model(model)), readModes(shelf.model(model))];
    const expected = Object.fromEntries(Object.keys(files).map((name) => [name, [files[name], modes[name], 0, 0, '', '', 0]]));
    expect(JSON.parse(must('python3', ['-c', listArchive, ...archives]))).toEqual(expected);
  });

  it.each(imageForms)('%s', (form) => {
    const { path, tag } = shelf.package('varied', form, 'layout');
    const layout = new Layout(path);
    const archives = layout.manifest(tag).layers.map(({ digest }) => layout.blobFile(digest));
    const found = JSON.parse(must('python3', ['-c', listArchive, ...archives])) as Record<string, unknown[]>;
    expect(Object.fromEntries(Object.entries(found).map(([name, [digest]]) => [name, digest]))).toEqual(readFiles(shelf.model('varied')));
  });

  function decompress(file: string, encoding: (typeof encodings)[number]): string {
    if (encoding === 'tar') return file;
    const out = shelf.path('layer.tar');
    if (encoding === 'tar+zstd') {
      must('zstd', ['-q', '--test', file]);
      must('zstd', ['-q', '-d', file, '-o', out]);
    } else {
      writeFileSync(`${out}.gz`, readFileSync(file));
      must('gzip', ['--test', `${out}.gz`]);
      must('gzip', ['-d', `${out}.gz`]);
    }
    return out;
  }
});

describe("we read tarfile's", () => {
  it.each(['pax', 'gnu'])('%s layers, folders and owners of this machine among them', (form) => {
    const archive = shelf.path('layer.tar');
    must('python3', ['-c', writeArchive, shelf.model('varied'), archive, form]);
    const layout = Layout.create(shelf.path());
    putModelPack(layout, 'v1', [{ type: 'weight.v1.tar', filepath: 'all', bytes: readFileSync(archive) }]);
    shelf.modelport.must(['verify', `oci:${layout.folder}:v1`]);
    const unpacked = shelf.modelport.unpack(`oci:${layout.folder}:v1`, shelf.path());
    expect(readFiles(unpacked)).toEqual(readFiles(shelf.model('varied')));
    expect(readModes(unpacked)).toEqual(readModes(shelf.model('varied')));
  });
});
