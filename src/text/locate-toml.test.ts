import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../core/index.js';
import { parseToml } from './toml.js';

const text = `# a = 1
top = "x" # ]
"quo.ted"."\\u0062" = 'a # b'
many = """
[not.a.header]
key = "" """"
list = [ # one
  1, [2, "]"], { k = 3, l.m = 4 },
]
[a.b]
c = 1979-05-27 07:32:00Z
[[t]]
x = 1
[t.sub]
y = 2
[[t]]
x = 3
[[t.u]]
z = '''it's'''''
`;

describe('the places in a TOML text', () => {
  const document = parseToml(text, 'f', defaultLimits);

  it.each([
    [['top'], '2:1'],
    [['quo.ted'], '3:1'],
    [['quo.ted', 'b'], '3:11'],
    [['many'], '4:1'],
    [['list'], '7:1'],
    [['list', 0], '8:3'],
    [['list', 1, 1], '8:10'],
    [['list', 2, 'k'], '8:18'],
    [['list', 2, 'l', 'm'], '8:27'],
    [['a'], '10:4'],
    [['a', 'b', 'c'], '11:1'],
    [['t'], '12:3'],
    [['t', 0, 'x'], '13:1'],
    [['t', 0, 'sub', 'y'], '15:1'],
    [['t', 1], '16:3'],
    [['t', 1, 'x'], '17:1'],
    [['t', 1, 'u', 0, 'z'], '19:1'],
    [['t', 1, 'missing', 'below'], '16:3'],
  ])('%j is at %s', (path, place) => {
    expect(document.locate(path)).toBe(`f:${place}`);
  });

  it('keeps dates as they were written', () => {
    expect(document.value).toMatchObject({ a: { b: { c: '1979-05-27 07:32:00Z' } } });
  });

  it('names the file alone for what stands nowhere', () => {
    expect(document.locate(['nowhere'])).toBe('f');
  });
});
