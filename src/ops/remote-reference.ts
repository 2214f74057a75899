import { createError, parseReference, type Reference } from '../core/index.js';

/** A name that a registry can have. */
export type RemoteReference = Reference & { readonly host: string };

export function isRemote(reference: Reference): reference is RemoteReference {
  return reference.host !== undefined;
}

/** For what can only be at a registry; `action` completes "Cannot …". */
export function parseRemote(text: string, action: string): RemoteReference {
  const reference = parseReference(text);
  if (isRemote(reference)) return reference;
  throw createError('core/bad-reference', {
    message: `Cannot ${action} "${text}": the name has no host`,
    hint: 'Write HOST/REPO:TAG, for example registry.example.com/team/model:1.0 or localhost:5000/model:v1',
  });
}
