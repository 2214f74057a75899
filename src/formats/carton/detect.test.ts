import { describe, expect, it } from 'vitest';
import { artifactOf, cartonOf, minimalToml, sourceOf, withManifest } from '../../../test/support/carton-files.js';
import type { OciSource } from '../../core/index.js';
import { detect } from './detect.js';

describe('detect', () => {
  it('takes a folder with both documents', async () => {
    expect(await detect(cartonOf())).toEqual({ vintage: 'v1', because: 'it holds carton.toml and MANIFEST' });
  });

  it('takes a zip with carton.toml alone, but not a folder', async () => {
    const files = { 'carton.toml': minimalToml };
    expect(await detect(sourceOf(files, 'zip'))).toEqual({ vintage: 'v1', because: 'it is a zip that holds carton.toml' });
    expect(await detect(sourceOf(files))).toBeUndefined();
  });

  it.each([{ MANIFEST: 'a=b\n' }, { 'a/carton.toml': '', 'a/MANIFEST': '' }, {}])('takes nothing else: %j', async (files) => {
    expect(await detect(sourceOf(files, 'zip'))).toBeUndefined();
  });

  it('takes an artifact by its type', async () => {
    const files = withManifest({ 'carton.toml': minimalToml }) as Readonly<Record<string, string>>;
    expect(await detect(await artifactOf(files))).toMatchObject({ because: 'artifactType is application/vnd.modelport.carton.v1' });
    expect(await detect(await artifactOf(files, (manifest) => (manifest.artifactType = 'application/x-other')))).toBeUndefined();
  });

  it.each(['', '{', '[]', '{"manifests":[],"layers":[]}', '\u0000\u00ff'])('does not stumble over the manifest %j', async (text) => {
    const source: OciSource = { ...(await artifactOf({})), bytes: Buffer.from(text, 'latin1') };
    expect(await detect(source)).toBeUndefined();
  });
});
