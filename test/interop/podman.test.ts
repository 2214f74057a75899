import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listPaths, readFiles, readModes } from './support/folders.js';
import { models } from './support/models.js';
import { Podman } from './support/podman.js';
import { imageForms, Shelf } from './support/shelf.js';
import { must } from './support/tools.js';

let shelf: Shelf;
let podman: Podman;
beforeAll(() => {
  shelf = new Shelf();
  podman = new Podman(join(shelf.folder, 'podman'));
});
afterAll(() => {
  podman.run(['rmi', '--all', '--force']);
  shelf.close();
});

const images = models.flatMap((model) => imageForms.map((form) => ({ model, form })));

function expectMounted(imageName: string, model: (typeof models)[number]): void {
  const mounted = podman.copyOutOfMount(podman.imageId(imageName), shelf.path('mounted'));
  expect(readFiles(mounted)).toEqual(readFiles(shelf.model(model)));
  expect(readModes(mounted)).toEqual(readModes(shelf.model(model)));
}

describe('podman mounts ours into a container', () => {
  it.each(images)('$model as $form, loaded from an OCI archive', ({ model, form }) => {
    const archive = shelf.path('image.tar');
    shelf.modelport.must(['copy', shelf.package(model, form, 'store').location, archive]);
    expectMounted(podman.load(archive), model);
  });

  it.each(images)('$model as $form, loaded from a docker archive', ({ model, form }) => {
    const archive = shelf.path('docker.tar');
    shelf.modelport.must(['copy', shelf.package(model, form, 'layout').location, `docker-archive:${archive}:demo/${model}:${form}-docker`]);
    const loaded = podman.load(archive);
    expect(loaded).toBe(`localhost/demo/${model}:${form}-docker`);
    expectMounted(loaded, model);
  });

  it.each(images)('$model as $form, pulled from the store itself', ({ model, form }) => {
    const { location } = shelf.package(model, form, 'store');
    const id = podman.must(['pull', '--quiet', location]).trim();
    const mounted = podman.copyOutOfMount(id, shelf.path('mounted'));
    expect(readFiles(mounted)).toEqual(readFiles(shelf.model(model)));
  });

  it('the sibling that an archive holds beside the ModelPack', () => {
    const { location } = shelf.package('varied', 'cncf-image', 'archive');
    const id = podman.must(['pull', '--quiet', location]).trim();
    expect(readFiles(podman.copyOutOfMount(id, shelf.path('mounted')))).toEqual(readFiles(shelf.model('varied')));
  });
});

describe("we read podman's", () => {
  it.each(['oci-archive', 'docker-archive'])('%s', (format) => {
    const id = podman.must(['pull', '--quiet', shelf.package('varied', 'cncf-image', 'layout').location]).trim();
    const archive = shelf.path('saved.tar');
    podman.must(['save', '--quiet', '--format', format, '--output', archive, id]);

    expect(shelf.modelport.inspect(archive).format).toBe('image');
    shelf.modelport.must(['verify', archive]);
    const unpacked = shelf.modelport.unpack(archive, shelf.path());
    expect(readFiles(unpacked)).toEqual(readFiles(shelf.model('varied')));
    expect(readModes(unpacked)).toEqual(readModes(shelf.model('varied')));
    expect(shelf.modelport.ls(archive).map(({ path }) => path)).toEqual(listPaths(shelf.model('varied')));
  });

  it('image with a link, an empty folder and a file of another owner', () => {
    const tar = shelf.path('imported.tar');
    const script = `
import io, sys, tarfile
with tarfile.open(sys.argv[1], 'w') as archive:
    def add(name, kind, **fields):
        entry = tarfile.TarInfo(name)
        entry.type = kind
        content = fields.pop('content', b'')
        entry.size = len(content)
        for key, value in fields.items(): setattr(entry, key, value)
        archive.addfile(entry, io.BytesIO(content))
    add('models', tarfile.DIRTYPE, mode=0o755)
    add('models/empty', tarfile.DIRTYPE, mode=0o755)
    add('models/weights.bin', tarfile.REGTYPE, mode=0o640, uid=1000, gid=1000, content=b'weights')
    add('models/latest', tarfile.SYMTYPE, linkname='weights.bin')
    add('models/again.bin', tarfile.LNKTYPE, linkname='models/weights.bin')
`;
    must('python3', ['-c', script, tar]);
    const id = podman.must(['import', '--quiet', tar]).trim();
    const archive = shelf.path('saved.tar');
    podman.must(['save', '--quiet', '--format', 'oci-archive', '--output', archive, id]);
    shelf.modelport.must(['verify', archive]);
    const unpacked = readFiles(shelf.modelport.unpack(archive, shelf.path()));
    expect(unpacked).toMatchObject({ 'models/latest': 'link to weights.bin' });
    expect(unpacked['models/again.bin']).toBe(unpacked['models/weights.bin']);
    expect(Object.keys(unpacked)).toEqual(['models/again.bin', 'models/latest', 'models/weights.bin']);
  });
});
