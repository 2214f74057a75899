import type { CartonReference } from './carton.js';
import { miscFolder, miscPrefix, tensorPrefix } from './spec.js';

/** `@tensor_data/NAME` or `@misc/PATH`; undefined for any other text. Whether the thing exists is not asked. */
export function parseReference(text: string): CartonReference | undefined {
  if (text.startsWith(tensorPrefix)) return { kind: 'tensor', name: text.slice(tensorPrefix.length) };
  if (text.startsWith(miscPrefix)) return { kind: 'misc', path: text.slice(miscPrefix.length) };
  return undefined;
}

export function writeReference(reference: CartonReference): string {
  return reference.kind === 'tensor' ? `${tensorPrefix}${reference.name}` : `${miscPrefix}${reference.path}`;
}

/** The member that a reference to a file leads to. */
export function memberOf(reference: CartonReference & { readonly kind: 'misc' }): string {
  return `${miscFolder}${reference.path}`;
}
