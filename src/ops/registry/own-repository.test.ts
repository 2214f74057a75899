import { expect, it } from 'vitest';
import { findOwnRepository } from './own-repository.js';

const descriptor = { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest: `sha256:${'a'.repeat(64)}`, size: 2 } as const;
const roots = (...names: (string | undefined)[]) => ({
  readRoots: () => names.map((name) => ({ descriptor, ...(name === undefined ? {} : { name }) })),
  changeRoots: async () => {},
});

it.each([
  ['/data/digits', ['v1'], 'digits'],
  ['/data/My Models (2)', ['v1', 'team/x:v1', undefined], 'my-models-2'],
  ['/data/---', ['latest'], 'model'],
  ['/data/Ünï_', ['latest'], 'n'],
  ['/data/digits', ['digits:v1', undefined], undefined],
  ['/data/digits', [undefined], undefined],
  ['/data/digits', [], undefined],
])('%s with the names %j: %s', (path, names, repository) => {
  expect(findOwnRepository(path, roots(...names))).toBe(repository);
});
