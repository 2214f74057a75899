import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFiles, readModes, sha256 } from './support/folders.js';
import { Layout } from './support/layouts.js';
import { models } from './support/models.js';
import { Modelport } from './support/modelport.js';
import { forms, imageForms, places, Shelf } from './support/shelf.js';
import { must } from './support/tools.js';

let shelf: Shelf;
beforeAll(() => {
  shelf = new Shelf();
});
afterAll(() => shelf.close());

const copies = models.flatMap((model) => forms.flatMap((form) => places.map((place) => ({ model, form, place }))));

describe('skopeo reads ours', () => {
  it.each(copies)('and copies $model as $form from the $place, digest kept', ({ model, form, place }) => {
    const { location } = shelf.package(model, form, place);
    const { digest } = shelf.modelport.inspect(location);
    expect(`sha256:${sha256(Buffer.from(must('skopeo', ['inspect', '--raw', location])))}`).toBe(digest);

    const copy = shelf.path();
    must('skopeo', ['copy', '--quiet', '--preserve-digests', location, `oci:${copy}:copied`]);
    expect(new Layout(copy).entry('copied').digest).toBe(digest);
    shelf.modelport.must(['verify', `oci:${copy}:copied`]);
    const unpacked = shelf.modelport.unpack(`oci:${copy}:copied`, shelf.path());
    expect(readFiles(unpacked)).toEqual(readFiles(shelf.model(model)));
    expect(readModes(unpacked)).toEqual(readModes(shelf.model(model)));
  });

  it.each(imageForms)('and takes %s for an image with true diff_ids', (form) => {
    const { path, tag, location } = shelf.package('varied', form, 'layout');
    const config = JSON.parse(must('skopeo', ['inspect', '--config', location])) as { rootfs: { diff_ids: string[] } };
    expect(config.rootfs.diff_ids).toEqual(new Layout(path).manifest(tag).layers.map(({ digest }) => digest));
  });

  it.each(imageForms)('and converts our docker archive of %s', (form) => {
    const archive = `docker-archive:${shelf.path('docker.tar')}`;
    shelf.modelport.must(['copy', shelf.package('varied', form, 'store').location, `${archive}:demo/varied:v1`]);
    const copy = `oci:${shelf.path()}:v1`;
    must('skopeo', ['copy', '--quiet', `${archive}:demo/varied:v1`, copy]);
    expect(readFiles(shelf.modelport.unpack(copy, shelf.path()))).toEqual(readFiles(shelf.model('varied')));
  });
});

describe("we read skopeo's", () => {
  it('layout with several packages: all are listed, one is chosen by its tag, none is guessed', () => {
    const copy = shelf.path();
    for (const form of forms)
      must('skopeo', ['copy', '--quiet', '--preserve-digests', shelf.package('digits', form, 'store').location, `oci:${copy}:${form}`]);
    const { packages } = shelf.modelport.json(['list', copy]) as { packages: { name: string }[] };
    expect(packages.map(({ name }) => name).sort()).toEqual(forms.toSorted());
    expect(shelf.modelport.inspect(`oci:${copy}:cnai`).vintage).toBe('cnai');
    const { code, stderr } = shelf.modelport.run(['verify', copy]);
    expect(code).toBe(2);
    for (const form of forms) expect(stderr).toContain(form);
  });

  it('layout with one package, named by its path alone', () => {
    const copy = shelf.path();
    must('skopeo', ['copy', '--quiet', shelf.package('digits', 'cncf', 'store').location, `oci:${copy}`]);
    shelf.modelport.must(['verify', copy]);
    expect(readFiles(shelf.modelport.unpack(copy, shelf.path()))).toEqual(readFiles(shelf.model('digits')));
  });

  it.each(forms)('OCI archive of %s', (form) => {
    const archive = `oci-archive:${shelf.path('skopeo.tar')}`;
    const original = shelf.package('varied', form, 'store').location;
    must('skopeo', ['copy', '--quiet', '--preserve-digests', original, `${archive}:copied`]);
    expect(shelf.modelport.inspect(archive).digest).toBe(shelf.modelport.inspect(original).digest);
    shelf.modelport.must(['verify', archive]);
    expect(readFiles(shelf.modelport.unpack(`${archive}:copied`, shelf.path()))).toEqual(readFiles(shelf.model('varied')));
  });

  it.each(imageForms)('docker archive of %s', (form) => {
    const archive = `docker-archive:${shelf.path('skopeo.tar')}`;
    must('skopeo', ['copy', '--quiet', shelf.package('varied', form, 'layout').location, `${archive}:demo/varied:v1`]);
    shelf.modelport.must(['verify', archive]);
    const unpacked = shelf.modelport.unpack(archive, shelf.path());
    expect(readFiles(unpacked)).toEqual(readFiles(shelf.model('varied')));
    expect(readModes(unpacked)).toEqual(readModes(shelf.model('varied')));
  });

  it.each([
    ['draft-2024', 'modelpack'],
    ['cncf-image', 'image'],
  ] as const)('copy of %s where it compressed the layers and dropped their annotations: still a %s', (form, format) => {
    const copy = shelf.path();
    must('skopeo', ['copy', '--quiet', shelf.package('varied', form, 'store').location, `oci:${copy}:small`]);
    const { layers } = new Layout(copy).manifest('small');
    expect(new Set(layers.map(({ mediaType }) => mediaType))).toEqual(new Set(['application/vnd.oci.image.layer.v1.tar+gzip']));
    expect(shelf.modelport.inspect(`oci:${copy}:small`).format).toBe(format);
    shelf.modelport.must(['verify', `oci:${copy}:small`]);
    const unpacked = shelf.modelport.unpack(`oci:${copy}:small`, shelf.path());
    expect(readFiles(unpacked)).toEqual(readFiles(shelf.model('varied')));
    expect(readModes(unpacked)).toEqual(readModes(shelf.model('varied')));
  });

  it('image with zstd layers', () => {
    const folder = shelf.path();
    const options = ['--dest-compress', '--dest-compress-format', 'zstd'];
    must('skopeo', ['copy', '--quiet', ...options, shelf.package('varied', 'cncf-image', 'store').location, `dir:${folder}`]);
    const copy = shelf.path();
    must('skopeo', ['copy', '--quiet', `dir:${folder}`, `oci:${copy}:small`]);
    expect(new Layout(copy).manifest('small').layers[0]?.mediaType).toBe('application/vnd.oci.image.layer.v1.tar+zstd');
    shelf.modelport.must(['verify', `oci:${copy}:small`]);
    const unpacked = shelf.modelport.unpack(`oci:${copy}:small`, shelf.path());
    expect(readFiles(unpacked)).toEqual(readFiles(shelf.model('varied')));
  });
});

describe('after one flipped bit in a layout that skopeo copied', () => {
  const filepathOf = (form: (typeof forms)[number]): string => (form.startsWith('cncf') ? 'org.cncf.model.filepath' : 'org.cnai.model.filepath');

  function damage(form: (typeof forms)[number]): { location: string; digest: string } {
    const copy = shelf.path();
    must('skopeo', ['copy', '--quiet', '--preserve-digests', shelf.package('digits', form, 'store').location, `oci:${copy}:copied`]);
    const layout = new Layout(copy);
    const weights = layout.manifest('copied').layers.find(({ annotations }) => annotations?.[filepathOf(form)] === 'digits.safetensors');
    if (weights === undefined) throw new Error('no such layer');
    layout.corrupt(weights.digest);
    return { location: `oci:${copy}:copied`, digest: weights.digest };
  }

  it.each(forms)('verify refuses %s in seconds and names the layer', (form) => {
    const { location, digest } = damage(form);
    const start = performance.now();
    const { code, stdout, stderr } = shelf.modelport.run(['verify', location]);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toContain('digits.safetensors');
    expect(`${stdout}${stderr}`).toContain(digest);
  });

  it.each(forms)('unpack refuses %s, names the layer and leaves nothing', (form) => {
    const { location, digest } = damage(form);
    const target = shelf.path('target');
    const { code, stderr } = shelf.modelport.run(['unpack', location, '-o', target]);
    expect(code).toBe(1);
    expect(existsSync(target)).toBe(false);
    expect(stderr).toContain(digest);
    expect(stderr).toContain('digits.safetensors');
  });

  it.each(forms)('copy refuses %s, names the layer and leaves nothing', (form) => {
    const { location, digest } = damage(form);
    const [archive, layout, empty] = [shelf.path('archive.tar'), shelf.path('layout'), new Modelport(shelf.path('empty-store'))];
    for (const target of [archive, `oci:${layout}:v1`, `demo/damaged:${form}`]) {
      const { code, stderr } = empty.run(['copy', location, target]);
      expect([code, stderr]).toEqual([1, expect.stringContaining(digest)]);
    }
    expect(existsSync(archive)).toBe(false);
    expect(empty.run(['inspect', `oci:${layout}:v1`]).code).not.toBe(0);
    expect(empty.run(['inspect', `demo/damaged:${form}`]).code).not.toBe(0);
  });

  it('a truncated layer is refused too', () => {
    const { path, tag, location } = shelf.package('digits', 'cnai', 'layout');
    const copy = shelf.path();
    must('skopeo', ['copy', '--quiet', location, `oci:${copy}:cut`]);
    const [layer] = new Layout(path).manifest(tag).layers;
    if (layer === undefined) throw new Error('no layer');
    must('python3', ['-c', 'import os, sys; os.truncate(sys.argv[1], 1000)', join(copy, 'blobs', layer.digest.replace(':', '/'))]);
    const { code, stdout, stderr } = shelf.modelport.run(['verify', `oci:${copy}:cut`]);
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toContain(layer.annotations?.['org.cnai.model.filepath']);
  });
});
