import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFiles, sha256 } from './support/folders.js';
import { Layout } from './support/layouts.js';
import { models } from './support/models.js';
import { forms, places, Shelf } from './support/shelf.js';
import { must } from './support/tools.js';

let shelf: Shelf;
beforeAll(() => {
  shelf = new Shelf();
});
afterAll(() => shelf.close());

/** Layouts and archives alike; the digest serves where a name holds a slash. */
const reference = (path: string, digest: string): string => `${path}@${digest}`;

const copies = models.flatMap((model) => forms.flatMap((form) => places.map((place) => ({ model, form, place }))));

describe('oras reads ours', () => {
  it.each(copies)('and copies $model as $form from the $place, digest kept', ({ model, form, place }) => {
    const { path, location } = shelf.package(model, form, place);
    const { digest } = shelf.modelport.inspect(location);
    expect(`sha256:${sha256(Buffer.from(must('oras', ['manifest', 'fetch', '--oci-layout', reference(path, digest)])))}`).toBe(digest);

    const copy = shelf.path();
    must('oras', ['copy', '--no-tty', '--from-oci-layout', reference(path, digest), '--to-oci-layout', `${copy}:copied`]);
    expect(new Layout(copy).entry('copied').digest).toBe(digest);
    shelf.modelport.must(['verify', `oci:${copy}:copied`]);
  });

  it('finds the names of the store', () => {
    const { path, tag } = shelf.package('digits', 'cncf', 'store');
    const { digest } = shelf.modelport.inspect(tag);
    expect(must('oras', ['repo', 'tags', '--oci-layout', path]).split('\n')).toContain(tag);
    expect(must('oras', ['resolve', '--oci-layout-path', path, tag]).trim()).toBe(digest);
  });

  it.each(models.flatMap((model) => places.map((place) => ({ model, place }))))(
    'and pulls the raw layers of $model from the $place under their titles',
    ({ model, place }) => {
      const { path, location } = shelf.package(model, 'cncf', place, ['--layers', 'raw']);
      const pulled = shelf.path('pulled');
      must('oras', ['pull', '--no-tty', '--oci-layout', reference(path, shelf.modelport.inspect(location).digest), '--output', pulled]);
      expect(readFiles(pulled)).toEqual(readFiles(shelf.model(model)));
    },
  );

  it('and pulls nothing but whole files: what shares a layer comes as the archive that it is', () => {
    const { path, tag, location } = shelf.package('varied', 'cncf', 'layout');
    const pulled = shelf.path('pulled');
    must('oras', ['pull', '--no-tty', '--oci-layout', reference(path, shelf.modelport.inspect(location).digest), '--output', pulled]);
    const original = readFiles(shelf.model('varied'));
    const archives = new Set(
      new Layout(path)
        .manifest(tag)
        .layers.filter(({ mediaType }) => mediaType.endsWith('tar'))
        .map(({ digest }) => digest),
    );
    expect(archives.size).toBe(1);
    for (const [name, digest] of Object.entries(readFiles(pulled))) {
      expect([original[name], ...[...archives].map((each) => each.slice('sha256:'.length))]).toContain(digest);
    }
  });
});

describe("we read oras's", () => {
  const titled = ['README.md', 'digits.onnx', 'digits.safetensors'];

  function pushTitled(tag: string, ...options: readonly string[]): string {
    const path = join(shelf.folder, 'by-oras');
    const files = titled.map((name) => `${name}:application/octet-stream`);
    must('oras', ['push', '--no-tty', '--oci-layout', `${path}:${tag}`, '--artifact-type', 'application/vnd.example.thing', ...options, ...files], {
      cwd: shelf.model('digits'),
    });
    return path;
  }

  it('artifact of another kind, called that, its files by their titles', () => {
    const location = `oci:${pushTitled('v1')}:v1`;
    expect(shelf.modelport.inspect(location)).toMatchObject({ format: 'artifact', extra: { artifactType: 'application/vnd.example.thing' } });
    expect(shelf.modelport.ls(location).map(({ path }) => path)).toEqual(titled);
    shelf.modelport.must(['verify', location]);
    const original = readFiles(shelf.model('digits'));
    expect(readFiles(shelf.modelport.unpack(location, shelf.path()))).toEqual(Object.fromEntries(titled.map((name) => [name, original[name]])));
    expect(shelf.modelport.run(['validate', location]).code).toBe(1);
  });

  it('layout, after it attached something', () => {
    const path = pushTitled('described');
    const note = shelf.path('note.txt');
    writeFileSync(note, 'looks right\n');
    const options = ['--artifact-type', 'application/vnd.example.note', '--disable-path-validation'];
    must('oras', ['attach', '--no-tty', '--oci-layout', `${path}:described`, ...options, note]);
    shelf.modelport.must(['verify', `oci:${path}:described`]);
    const copy = shelf.path();
    shelf.modelport.must(['copy', '--all', `oci:${path}`, `oci:${copy}`]);
    expect(must('oras', ['repo', 'tags', '--oci-layout', copy])).toContain('described');
  });

  function pushIndex(): { path: string; entries: string[] } {
    const path = pushTitled('one', '--annotation', 'number=1');
    pushTitled('two', '--annotation', 'number=2');
    must('oras', ['manifest', 'index', 'create', '--oci-layout', `${path}:both`, 'one', 'two']);
    return { path, entries: ['one', 'two'].map((tag) => new Layout(path).entry(tag).digest) };
  }

  it('index: a person sees every entry', () => {
    const { path, entries } = pushIndex();
    const printed = shelf.modelport.must(['inspect', `oci:${path}:both`]);
    for (const digest of entries) expect(printed).toContain(digest.slice('sha256:'.length, 'sha256:'.length + 12));
  });

  it('index: every entry is listed, each can be reached, all are verified', () => {
    const { path, entries } = pushIndex();
    const found = shelf.modelport.inspect(`oci:${path}:both`);
    expect(found.format).toBe('index');
    expect(found.extra).toMatchObject({ entries: entries.map((digest) => ({ digest })) });
    expect(entries.map((digest) => shelf.modelport.inspect(`oci:${path}@${digest}`).digest)).toEqual(entries);
    const { code, stderr } = shelf.modelport.run(['unpack', `oci:${path}:both`, '-o', shelf.path()]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('oci:DIR@DIGEST')]);

    shelf.modelport.must(['verify', `oci:${path}:both`]);
    const damaged = shelf.path();
    must('oras', ['copy', '--no-tty', '--from-oci-layout', `${path}:both`, '--to-oci-layout', `${damaged}:both`]);
    const layout = new Layout(damaged);
    layout.corrupt(new Layout(path).manifest('two').layers[1]?.digest ?? '');
    expect(shelf.modelport.run(['verify', `oci:${damaged}:both`]).code).toBe(1);
  });

  it('ModelPack put together by hand: no filepath, no modes, titles alone', () => {
    const folder = shelf.model('digits');
    const config = shelf.path('config.json');
    const diffIds = ['digits.safetensors', 'README.md'].map((name) => `sha256:${readFiles(folder)[name]}`);
    writeFileSync(config, JSON.stringify({ descriptor: { name: 'by-oras' }, config: {}, modelfs: { type: 'layers', diffIds } }));
    const path = shelf.path();
    const family = 'application/vnd.cncf.model';
    must(
      'oras',
      [
        'push',
        '--no-tty',
        '--oci-layout',
        `${path}:v1`,
        '--disable-path-validation',
        '--artifact-type',
        `${family}.manifest.v1+json`,
        '--config',
        `${config}:${family}.config.v1+json`,
        `digits.safetensors:${family}.weight.v1.raw`,
        `README.md:${family}.doc.v1.raw`,
      ],
      { cwd: folder },
    );
    const location = `oci:${path}:v1`;
    expect(shelf.modelport.inspect(location)).toMatchObject({ format: 'modelpack', vintage: 'cncf', identity: { name: 'by-oras' } });
    expect(shelf.modelport.inspect(location).parts.map(({ role, path: part }) => [role, part])).toEqual([
      ['weights', 'digits.safetensors'],
      ['doc', 'README.md'],
    ]);
    shelf.modelport.must(['verify', location]);
    const original = readFiles(folder);
    expect(readFiles(shelf.modelport.unpack(location, shelf.path()))).toEqual({
      'README.md': original['README.md'],
      'digits.safetensors': original['digits.safetensors'],
    });
  });
});
