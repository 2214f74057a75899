import { escapeForDisplay } from '../../bytes/index.js';

/** Of all warnings of one answer together. (distribution-spec 1.1, Warnings) */
const mostCharacters = 4096;

/**
 * The texts of a `Warning` header that are meant for a person: `299 - "text"`, several of them joined by commas. Without their quotes,
 * and without what would move a cursor.
 */
export function parseWarnings(header: string | undefined): readonly string[] {
  const found = (header ?? '').slice(0, mostCharacters).matchAll(/(?:^|,)\s*299 \S+ "((?:[^"\\]|\\.)*)"/gs);
  return [...found].map(([, text = '']) => escapeForDisplay(text.replaceAll(/\\(.)/gs, '$1')));
}
