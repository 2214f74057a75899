/** crane works on registries; without one it takes docker archives only, and none of its verbs reads a layout. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFiles, readModes } from './support/folders.js';
import { models } from './support/models.js';
import { imageForms, Shelf } from './support/shelf.js';
import { must } from './support/tools.js';

let shelf: Shelf;
beforeAll(() => {
  shelf = new Shelf();
});
afterAll(() => shelf.close());

const images = models.flatMap((model) => imageForms.map((form) => ({ model, form })));

describe('crane reads our docker archives', () => {
  it.each(images)('finds $model as $form well-formed and exports its files', ({ model, form }) => {
    const archive = shelf.path('docker.tar');
    shelf.modelport.must(['copy', shelf.package(model, form, 'store').location, `docker-archive:${archive}:demo/${model}:v1`]);
    expect(must('crane', ['validate', '--tarball', archive])).toContain('PASS');
    const [exported, folder] = [shelf.path('exported.tar'), shelf.path()];
    must('crane', ['export', '-', exported], { input: readFileSync(archive) });
    mkdirSync(folder);
    must('tar', ['-xpf', exported, '-C', folder]);
    expect(readFiles(folder)).toEqual(readFiles(shelf.model(model)));
    expect(readModes(folder)).toEqual(readModes(shelf.model(model)));
  });
});

describe("we read crane's docker archives", () => {
  it.each(['--oci-empty-base=true', '--oci-empty-base=false'])('two layers that append %s made', (base) => {
    const [lower, upper, archive] = [shelf.path('lower.tar'), shelf.path('upper.tar.gz'), shelf.path('docker.tar')];
    must('tar', ['-cf', lower, '-C', shelf.model('digits'), '.']);
    const changed = shelf.path();
    mkdirSync(changed);
    writeFileSync(`${changed}/README.md`, 'changed\n');
    must('tar', ['-czf', upper, '-C', changed, 'README.md']);
    must('crane', ['append', base, '-f', lower, '-f', upper, '-t', 'example.test/model:v1', '-o', archive]);

    shelf.modelport.must(['verify', archive]);
    expect(shelf.modelport.inspect(archive).format).toBe('image');
    const unpacked = readFiles(shelf.modelport.unpack(archive, shelf.path()));
    expect(unpacked).toEqual({ ...readFiles(shelf.model('digits')), ...readFiles(changed) });
  });
});
