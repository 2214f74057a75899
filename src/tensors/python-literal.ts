/** A tuple is an array here, like a list. */
export type PythonValue = string | number | boolean | null | readonly PythonValue[] | ReadonlyMap<string, PythonValue>;

export function isDictionary(value: PythonValue): value is ReadonlyMap<string, PythonValue> {
  return value instanceof Map;
}

const maxDepth = 16;
const token = /\s*(?:([{}()[\],:])|('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(-?\d{1,20})L?(?![\w.])|(True|False|None)\b)/y;
const words: Readonly<Record<string, boolean | null>> = { True: true, False: false, None: null };

interface Token {
  readonly sign?: string;
  readonly value?: string | number | boolean | null;
}

/** The literals that NumPy writes: dictionaries with text keys, tuples, lists, text, whole numbers, True, False, None. `refuse` makes the error. */
export function parsePythonLiteral(text: string, refuse: (reason: string) => Error): PythonValue {
  const tokens = tokenize(text, refuse);
  let at = 0;
  const take = (): Token => tokens[at++] ?? {};
  const nextIs = (sign: string): boolean => tokens[at]?.sign === sign;
  const expect = (sign: string): void => {
    if (take().sign !== sign) throw refuse(`expected ${sign} in the header`);
  };

  function items<T>(close: string, one: () => T): T[] {
    const list: T[] = [];
    while (!nextIs(close)) {
      list.push(one());
      if (!nextIs(close)) expect(',');
    }
    expect(close);
    return list;
  }

  function entry(depth: number): readonly [string, PythonValue] {
    const key = take().value;
    if (typeof key !== 'string') throw refuse('a key of the header is not text');
    expect(':');
    return [key, value(depth)];
  }

  function dictionary(depth: number): ReadonlyMap<string, PythonValue> {
    const entries = items('}', () => entry(depth));
    const map = new Map(entries);
    if (map.size !== entries.length) throw refuse('a key of the header stands twice');
    return map;
  }

  function value(depth: number): PythonValue {
    if (depth > maxDepth) throw refuse(`the header is nested deeper than ${maxDepth} levels`);
    const { sign, value: found } = take();
    if (sign === '{') return dictionary(depth + 1);
    if (sign === '(') return items(')', () => value(depth + 1));
    if (sign === '[') return items(']', () => value(depth + 1));
    if (found === undefined) throw refuse(sign === undefined ? 'the header ends too early' : `unexpected ${sign} in the header`);
    return found;
  }

  const result = value(0);
  if (at !== tokens.length) throw refuse('the header goes on after its dictionary');
  return result;
}

function tokenize(text: string, refuse: (reason: string) => Error): readonly Token[] {
  const trimmed = text.trimEnd();
  const tokens: Token[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < trimmed.length) {
    const start = token.lastIndex;
    const match = token.exec(trimmed);
    if (match === null) throw refuse(`the header is no Python literal at character ${start}`);
    const [, sign, quoted, number, word] = match;
    if (sign !== undefined) tokens.push({ sign });
    else if (quoted !== undefined) tokens.push({ value: quoted.slice(1, -1).replace(/\\(.)/gs, '$1') });
    else if (number !== undefined) tokens.push({ value: Number(number) });
    else tokens.push({ value: words[word ?? ''] ?? null });
  }
  return tokens;
}
