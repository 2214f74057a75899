import { describe, expect, it } from 'vitest';
import type { Finding } from '../../core/index.js';
import { plainStyle } from '../terminal.js';
import { countFindings, renderFindings } from './findings.js';

const finding = (given: Partial<Finding>): Finding => ({ level: 'warning', code: 'modelpack/old', message: 'An old word', ...given });

describe('renderFindings', () => {
  it('puts errors first, and place and advice on their own lines', () => {
    const findings = [
      finding({ level: 'note', where: 'README.md' }),
      finding({ level: 'error', rule: 'MP-3', hint: 'Pack it again', where: 'config' }),
    ];
    expect(renderFindings(findings, plainStyle, ' ')).toEqual([
      ' error MP-3: An old word',
      '   where: config',
      '   hint: Pack it again',
      ' note modelpack/old: An old word',
      '   where: README.md',
    ]);
  });

  it('says once what holds for several places', () => {
    const findings = Array.from({ length: 12 }, (_, at) => finding({ where: `layers[${at}]` }));
    expect(renderFindings(findings.slice(0, 2), plainStyle)).toEqual(['warning modelpack/old: An old word', '  where: layers[0], layers[1]']);
    expect(renderFindings(findings, plainStyle).at(-1)).toMatch(/layers\[9\], and 2 more$/);
  });

  it('counts what would fill the screen', () => {
    const findings = Array.from({ length: 5000 }, (_, at) => finding({ rule: 'MP-7', message: `Layer ${at} is odd` }));
    const lines = renderFindings(findings, plainStyle);
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toBe('… and 4,990 more of MP-7; --json lists all');
  });
});

describe('countFindings', () => {
  it('counts by level', () => {
    expect(countFindings([finding({}), finding({}), finding({ level: 'error' })])).toBe('1 error, 2 warnings');
    expect(countFindings([])).toBe('');
  });
});
