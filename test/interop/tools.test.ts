import { describe, expect, it } from 'vitest';
import { Podman, run, type Tool, withFolder } from './support.js';

const versions: readonly (readonly [Tool, readonly string[], RegExp])[] = [
  ['skopeo', ['--version'], /skopeo version 1\./],
  ['umoci', ['--version'], /umoci version 0\./],
  ['podman', ['--version'], /podman version [45]\./],
  ['runc', ['--version'], /runc version 1\./],
  ['oras', ['version'], /1\.3\.3/],
  ['crane', ['version'], /0\.21\.0/],
  ['modctl', ['version'], /Version/],
];

describe('the tools', () => {
  it.each(versions)('%s answers', (tool, args, expected) => {
    const { code, stdout, stderr } = run(tool, args);
    expect(`${stdout}${stderr}`).toMatch(expected);
    expect(code).toBe(0);
  });

  it('podman starts from an empty store', () =>
    withFolder((folder) => {
      expect(new Podman(folder).must(['images', '--quiet'])).toBe('');
    }));
});
