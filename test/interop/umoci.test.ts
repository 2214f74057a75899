import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFiles, readModes } from './support/folders.js';
import { Layout } from './support/layouts.js';
import { models } from './support/models.js';
import { imageForms, Shelf } from './support/shelf.js';
import { must } from './support/tools.js';

let shelf: Shelf;
beforeAll(() => {
  shelf = new Shelf();
});
afterAll(() => shelf.close());

const unpackings = models.flatMap((model) => imageForms.flatMap((form) => (['store', 'layout'] as const).map((place) => ({ model, form, place }))));

describe('umoci reads ours', () => {
  it('lists the names of the store', () => {
    const { path, tag } = shelf.package('digits', 'cncf-image', 'store');
    expect(must('umoci', ['list', '--layout', path]).split('\n')).toContain(tag);
  });

  it.each(unpackings)('and unpacks $model as $form from the $place, file by file', ({ model, form, place }) => {
    const { path, tag } = shelf.package(model, form, place);
    const bundle = shelf.path('bundle');
    must('umoci', ['unpack', '--image', `${path}:${tag}`, bundle]);
    expect(readFiles(join(bundle, 'rootfs'))).toEqual(readFiles(shelf.model(model)));
    expect(readModes(join(bundle, 'rootfs'))).toEqual(readModes(shelf.model(model)));
  });

  it('keeps our layers when it adds one, and we read the sum', () => {
    const { path, tag } = shelf.package('digits', 'cncf-image', 'layout');
    const note = shelf.path('note.txt');
    writeFileSync(note, 'added\n');
    must('umoci', ['insert', '--image', `${path}:${tag}`, '--tag', 'grown', note, '/note.txt']);
    shelf.modelport.must(['verify', `oci:${path}:grown`]);
    const unpacked = readFiles(shelf.modelport.unpack(`oci:${path}:grown`, shelf.path()));
    expect(unpacked).toEqual({ ...readFiles(shelf.model('digits')), 'note.txt': expect.any(String) as string });
  });
});

/** Layers by umoci, gzip as it writes them: digits and src, then README.md and all of src hidden, then a new src/. */
function buildByUmoci(): { path: string; image: string; expected: Record<string, string> } {
  const [path, added] = [shelf.path('umoci'), shelf.path('added.txt')];
  const image = `${path}:v1`;
  const digits = shelf.model('digits');
  writeFileSync(added, 'from the upper layer\n');
  must('umoci', ['init', '--layout', path]);
  must('umoci', ['new', '--image', image]);
  must('umoci', ['insert', '--image', image, digits, '/']);
  must('umoci', ['insert', '--image', image, digits, '/src']);
  must('umoci', ['insert', '--image', image, added, '/src/added.txt']);
  must('umoci', ['insert', '--image', image, '--whiteout', '/README.md']);
  must('umoci', ['insert', '--image', image, '--whiteout', '/src/digits.pt']);
  must('umoci', ['insert', '--image', image, added, '/digits.onnx']);
  const bundle = shelf.path('bundle');
  must('umoci', ['unpack', '--image', image, bundle]);
  return { path, image, expected: readFiles(join(bundle, 'rootfs')) };
}

/** What umoci made, with the types and annotations that the draft of 2024 asks for. */
function stampAsDraft(folder: string): void {
  const layout = new Layout(folder);
  const { config, layers } = layout.manifest('v1');
  layout.putManifest('draft', {
    artifactType: 'application/vnd.cnai.model.manifest.v1+json',
    config,
    layers: layers.map((layer) => ({ ...layer, artifactType: 'application/vnd.cnai.model.layer.v1.tar+gzip' })),
    annotations: { 'org.cnai.model.name': 'stacked', 'org.cnai.model.licenses': 'Apache-2.0' },
  });
}

describe("we read umoci's", () => {
  it.each([
    ['v1', 'image'],
    ['draft', 'modelpack'],
  ])('%s as %s: its whiteouts hide, its upper layers win', (tag, format) => {
    const { path, expected } = buildByUmoci();
    stampAsDraft(path);
    const location = `oci:${path}:${tag}`;
    expect(Object.keys(expected)).toContain('src/added.txt');
    expect(Object.keys(expected)).not.toContain('README.md');
    expect(Object.keys(expected)).not.toContain('src/digits.pt');

    expect(shelf.modelport.inspect(location).format).toBe(format);
    shelf.modelport.must(['verify', location]);
    expect(readFiles(shelf.modelport.unpack(location, shelf.path()))).toEqual(expected);
    expect(shelf.modelport.ls(location).map((file) => file.path)).toEqual(Object.keys(expected));
  });

  it('opaque folders, which hide what lies below', () => {
    const [path, added] = [shelf.path('umoci'), shelf.path()];
    must('umoci', ['init', '--layout', path]);
    must('umoci', ['new', '--image', `${path}:v1`]);
    must('umoci', ['insert', '--image', `${path}:v1`, shelf.model('varied'), '/model']);
    const upper = shelf.model('digits');
    must('umoci', ['insert', '--image', `${path}:v1`, '--opaque', upper, '/model']);
    stampAsDraft(path);
    expect(readFiles(join(shelf.modelport.unpack(`oci:${path}:draft`, added), 'model'))).toEqual(readFiles(upper));
  });

  it('metadata of a draft, of which the gzip layers are a finding', () => {
    const { path } = buildByUmoci();
    stampAsDraft(path);
    const found = shelf.modelport.inspect(`oci:${path}:draft`);
    expect(found).toMatchObject({ vintage: 'draft-2024', identity: { name: 'stacked', licenses: ['Apache-2.0'] } });
    const { findings } = JSON.parse(shelf.modelport.run(['validate', `oci:${path}:draft`, '--json']).stdout) as { findings: { message: string }[] };
    expect(findings.map(({ message }) => message).join('\n')).toMatch(/compress/i);
  });
});
