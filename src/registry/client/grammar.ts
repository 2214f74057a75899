import { createError, isRepository, isTag, parseReference } from '../../core/index.js';

/** Whether a text is a repository name, and nothing else. (distribution-spec 1.1, Pulling manifests) */
export function isRepositoryName(text: unknown): text is string {
  return typeof text === 'string' && isRepository(text);
}

export function isTagName(text: unknown): text is string {
  return typeof text === 'string' && isTag(text);
}

/** `HOST[:PORT]`; a word alone is one too. */
export function isHostName(text: string): boolean {
  const isPlainWord = /^[a-z0-9-]+$/i.test(text) && text !== 'localhost';
  return isPart(text, () => (isPlainWord ? parseReference(`${text}:1/any`).host?.slice(0, -2) : parseReference(`${text}/any`).host));
}

function isPart(text: string, parse: () => string | undefined): boolean {
  try {
    return parse() === text;
  } catch {
    return false;
  }
}

/** Throws `core/bad-reference`: what is no name must not become part of an address. */
export function assertName(text: string, what: 'repository' | 'tag'): string {
  if (what === 'repository' ? isRepositoryName(text) : isTagName(text)) return text;
  throw createError('core/bad-reference', {
    message: `Cannot use the name ${JSON.stringify(text.slice(0, 160))}: it is not a ${what} of a registry`,
    hint: 'A name looks like registry.example.com/team/model:1.0',
  });
}
