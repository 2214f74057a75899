import { type Digest, parseDigest } from './digest.js';
import { createError, isToolkitError } from './error.js';
import { parseReference, type Reference } from './reference.js';

/**
 * What a person may have meant. Text alone cannot decide between an existing path and a name: `path-or-name` leaves that to
 * `ops`, which asks the disk (an existing path wins).
 */
export type Location =
  /** `notName` is why a text that could have been meant as a name is none. */
  | { readonly kind: 'path'; readonly text: string; readonly path: string; readonly notName?: string }
  | { readonly kind: 'oci'; readonly text: string; readonly path: string; readonly tag?: string; readonly digest?: Digest }
  | { readonly kind: 'oci-archive'; readonly text: string; readonly path: string; readonly tag?: string }
  | { readonly kind: 'docker-archive'; readonly text: string; readonly path: string; readonly tag?: string }
  | { readonly kind: 'http'; readonly text: string; readonly url: string }
  | { readonly kind: 'name'; readonly text: string; readonly reference: Reference }
  | { readonly kind: 'path-or-name'; readonly text: string; readonly path: string; readonly reference: Reference };

const transports = ['oci', 'oci-archive', 'docker-archive'] as const;

/** Text → location; no disk, no network. Throws `core/bad-location`. */
export function parseLocation(text: string): Location {
  if (text === '') throw createError('core/bad-location', { message: 'Cannot use an empty location', hint: 'Name a folder, a file or a package' });
  if (text.includes('\0')) throw createError('core/bad-location', { message: 'Cannot use a location that holds a NUL character' });
  for (const transport of transports) {
    if (text.startsWith(`${transport}:`)) return parseTransport(transport, text);
  }
  if (/^https?:\/\//.test(text)) return { kind: 'http', text, url: text };
  if (/^(\/|\.\.?(\/|$)|~(\/|$))/.test(text)) return { kind: 'path', text, path: text };
  return parsePathOrName(text);
}

/** As skopeo spells them: `oci:DIR[:TAG][@DIGEST]`; the tag may itself be a whole name with `/` and `:`. */
function parseTransport(transport: (typeof transports)[number], text: string): Location {
  const rest = text.slice(transport.length + 1);
  const at = transport === 'oci' ? rest.indexOf('@sha') : -1;
  const digest = at < 0 ? undefined : parseDigest(rest.slice(at + 1), text);
  const named = at < 0 ? rest : rest.slice(0, at);
  const colon = named.indexOf(':');
  const path = colon < 0 ? named : named.slice(0, colon);
  const tag = colon < 0 ? undefined : named.slice(colon + 1);
  if (path === '')
    throw createError('core/bad-location', {
      message: `Cannot use the location "${text}": a path is missing after ${transport}:`,
      hint: `Write ${transport}:PATH or ${transport}:PATH:TAG`,
    });
  return {
    kind: transport,
    text,
    path,
    ...(tag === undefined || tag === '' ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

function parsePathOrName(text: string): Location {
  try {
    return { kind: 'path-or-name', text, path: text, reference: parseReference(text) };
  } catch (error) {
    if (!isToolkitError(error)) throw error;
    return { kind: 'path', text, path: text, notName: error.message };
  }
}
