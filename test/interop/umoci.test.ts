import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
});

/** What umoci makes of our sibling image when files go, change and come: a gzip layer with whiteouts over our tar layers. */
function repack(): { location: string; expected: Record<string, string> } {
  const { location } = shelf.package('varied', 'cncf-image', 'store');
  const [path, bundle] = [shelf.path('umoci'), shelf.path('bundle')];
  shelf.modelport.must(['copy', location, `oci:${path}:v1`]);
  must('umoci', ['unpack', '--image', `${path}:v1`, bundle]);
  const rootfs = join(bundle, 'rootfs');
  rmSync(join(rootfs, 'README.md'));
  rmSync(join(rootfs, 'docs'), { recursive: true });
  writeFileSync(join(rootfs, 'tools/new.txt'), 'added\n');
  writeFileSync(join(rootfs, 'config.json'), '{"model_type":"mistral"}');
  must('umoci', ['repack', '--image', `${path}:v1`, bundle]);
  stampAsDraft(path);
  return { location: `oci:${path}`, expected: readFiles(rootfs) };
}

/** The image called v1 again, as `draft`, with the types and annotations that the draft of 2024 asks for. */
function stampAsDraft(folder: string): void {
  const layout = new Layout(folder);
  const { config, layers } = layout.manifest('v1');
  layout.putManifest('draft', {
    artifactType: 'application/vnd.cnai.model.manifest.v1+json',
    config,
    layers: layers.map((layer) => ({
      ...layer,
      artifactType: layer.mediaType.replace('oci.image.layer', 'cnai.model.layer'),
      annotations: { 'org.cnai.model.model': 'true' },
    })),
    annotations: { 'org.cnai.model.name': 'stacked', 'org.cnai.model.licenses': 'Apache-2.0' },
  });
}

const tags = [
  ['v1', 'image'],
  ['draft', 'modelpack'],
] as const;

describe('we read what umoci made of ours', () => {
  it.each(tags)('%s, as %s: whiteouts hide, upper layers win', (tag, format) => {
    const { location, expected } = repack();
    expect(Object.keys(expected).filter((path) => !path.startsWith('src/'))).toEqual([
      'LICENSE',
      'config.json',
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
      'model.safetensors.index.json',
      'tools/new.txt',
      'tools/run.sh',
    ]);
    expect(shelf.modelport.inspect(`${location}:${tag}`).format).toBe(format);
    shelf.modelport.must(['verify', `${location}:${tag}`]);
    expect(readFiles(shelf.modelport.unpack(`${location}:${tag}`, shelf.path()))).toEqual(expected);
  });

  it.each(tags)('%s, and list its files as they come out', (tag) => {
    const { location, expected } = repack();
    expect(shelf.modelport.ls(`${location}:${tag}`).map(({ path }) => path)).toEqual(Object.keys(expected));
  });

  it('the metadata of a draft, and its compressed weights are a finding', () => {
    const { location } = repack();
    const found = shelf.modelport.inspect(`${location}:draft`);
    expect(found).toMatchObject({ vintage: 'draft-2024', identity: { name: 'stacked', licenses: ['Apache-2.0'] } });
    const { stdout } = shelf.modelport.run(['validate', `${location}:draft`, '--json']);
    const { findings } = JSON.parse(stdout) as { findings: { message: string }[] };
    expect(findings.map(({ message }) => message).join('\n')).toMatch(/compress/i);
  });
});

describe("we read umoci's own", () => {
  /** `insert` ends its archives right after the last byte of the last file, without padding. */
  function insert(image: string, ...args: readonly string[]): void {
    must('umoci', ['insert', '--image', image, ...args]);
  }

  it.each(tags)('%s, as %s: one file a layer, whiteouts, files over files', (tag) => {
    const [path, note, bundle] = [shelf.path('umoci'), shelf.path('note.txt'), shelf.path('bundle')];
    writeFileSync(note, 'from the upper layer\n');
    must('umoci', ['init', '--layout', path]);
    must('umoci', ['new', '--image', `${path}:v1`]);
    insert(`${path}:v1`, shelf.model('digits'), '/');
    insert(`${path}:v1`, shelf.model('digits'), '/src');
    insert(`${path}:v1`, note, '/digits.onnx');
    insert(`${path}:v1`, '--whiteout', '/README.md');
    insert(`${path}:v1`, '--whiteout', '/src/digits.pt');
    stampAsDraft(path);
    must('umoci', ['unpack', '--image', `${path}:v1`, bundle]);
    const expected = readFiles(join(bundle, 'rootfs'));
    expect(Object.keys(expected)).not.toContain('src/digits.pt');

    shelf.modelport.must(['verify', `oci:${path}:${tag}`]);
    expect(readFiles(shelf.modelport.unpack(`oci:${path}:${tag}`, shelf.path()))).toEqual(expected);
  });

  it.each(tags)('%s, as %s: a folder that hides all below', (tag) => {
    const path = shelf.path('umoci');
    must('umoci', ['init', '--layout', path]);
    must('umoci', ['new', '--image', `${path}:v1`]);
    insert(`${path}:v1`, shelf.model('varied'), '/model');
    insert(`${path}:v1`, '--opaque', shelf.model('digits'), '/model');
    stampAsDraft(path);
    const unpacked = shelf.modelport.unpack(`oci:${path}:${tag}`, shelf.path());
    expect(readFiles(join(unpacked, 'model'))).toEqual(readFiles(shelf.model('digits')));
  });
});
