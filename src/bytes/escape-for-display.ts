/** Controls (C0, DEL, C1), formats (bidi overrides and isolates, zero width, tags), line and paragraph separators, lone surrogates. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu;
const anyUnsafe = new RegExp(unsafe.source, 'u');

/** Text from a package as it may be shown in a terminal: what would move the cursor, hide or reorder text is spelled out, as `\u{202e}`. */
export function escapeForDisplay(text: string): string {
  return anyUnsafe.test(text) ? text.replace(unsafe, spell) : text;
}

function spell(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
