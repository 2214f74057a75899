const newline = 0x0a;
const doubleQuote = 0x22;
const hash = 0x23;
const singleQuote = 0x27;
const backslash = 0x5c;

/** `,` `.` `=` `[` `{`: without one of them there is no further value, table or list. */
const separators: ReadonlySet<number> = new Set([0x2c, 0x2e, 0x3d, 0x5b, 0x7b]);

/** How many values, tables and lists a TOML document holds at most, counted without making any. What is no TOML is counted up to its first mistake. */
export function countValues(text: string): number {
  let count = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === doubleQuote || character === singleQuote) at = endOfString(text, at, character);
    else if (character === hash) at = endOfLine(text, at);
    else if (separators.has(character)) count++;
  }
  return count;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

/** Where the last quote stands. */
function endOfString(text: string, at: number, quote: number): number {
  const isLong = text.charCodeAt(at + 1) === quote && text.charCodeAt(at + 2) === quote;
  return isLong ? endOfLong(text, at + 3, quote) : endOfShort(text, at + 1, quote);
}

function endOfShort(text: string, start: number, quote: number): number {
  for (let at = start; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote || character === newline) return at;
    if (character === backslash && quote === doubleQuote) at++;
  }
  return text.length;
}

/** Two more quotes may stand before the three that end it. */
function endOfLong(text: string, start: number, quote: number): number {
  for (let at = start; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === backslash && quote === doubleQuote) at++;
    else if (character === quote && text.charCodeAt(at + 1) === quote && text.charCodeAt(at + 2) === quote) {
      let end = at + 2;
      while (end < at + 4 && text.charCodeAt(end + 1) === quote) end++;
      return end;
    }
  }
  return text.length;
}
