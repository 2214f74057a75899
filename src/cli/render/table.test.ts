import { describe, expect, it } from 'vitest';
import { plainStyle } from '../terminal.js';
import { toFacts, toTable } from './table.js';

const columns = [
  { title: 'SIZE', align: 'right' },
  { title: 'PATH', shrinks: true },
] as const;
const rows = [
  ['1 kB', 'a.txt'],
  ['20.3 kB', 'some/long/folder/model.safetensors'],
];

describe('toTable', () => {
  it('aligns, without spaces at the end of a line', () => {
    expect(toTable(columns, rows, plainStyle)).toEqual(['   SIZE  PATH', '   1 kB  a.txt', '20.3 kB  some/long/folder/model.safetensors']);
  });

  it('cuts one column where the terminal is narrow', () => {
    const lines = toTable(columns, rows, { ...plainStyle, width: 30 }, '  ');
    expect(lines.at(-1)).toBe('  20.3 kB  some/long…fetensors');
    expect(toTable(columns, rows, { ...plainStyle, width: 28 }).every((line) => line.length <= 28)).toBe(true);
  });

  it('measures before it paints', () => {
    const painted = [{ title: '', paint: (text: string) => `<${text}>` }, { title: '' }];
    expect(
      toTable(
        painted,
        [
          ['a', 'x'],
          ['bbb', 'y'],
        ],
        plainStyle,
      ),
    ).toEqual(['<a  >  x', '<bbb>  y']);
  });

  it('has no title without rows', () => {
    expect(toTable(columns, [], plainStyle)).toEqual([]);
  });
});

describe('toFacts', () => {
  it('leaves out what is unknown', () => {
    expect(
      toFacts(
        [
          ['a', '1'],
          ['longer', undefined],
          ['bb', ''],
          ['ccc', '2'],
        ],
        plainStyle,
      ),
    ).toEqual(['  a    1', '  ccc  2']);
  });
});
