import { findNotedRepository, isToolkitError, type NamedDescriptor, parseReference } from '../core/index.js';

/** The repository of a manifest that a registry holds without a tag; undefined for every other root. */
export function findUntagged(root: NamedDescriptor): string | undefined {
  return root.name === undefined ? findNotedRepository(root) : undefined;
}

/** The repository that surely shows a root. Undefined where that rests on how a registry is served, as for names with a host. */
export function findRepository(root: NamedDescriptor): string | undefined {
  const { name } = root;
  const noted = findNotedRepository(root);
  if (noted !== undefined || name === undefined) return noted;
  try {
    const { host, repository } = parseReference(name);
    return host === undefined && name.includes(':') ? repository : undefined;
  } catch (error) {
    if (isToolkitError(error)) return undefined;
    throw error;
  }
}
