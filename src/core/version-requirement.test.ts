import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizeVersion } from './framework-version.js';
import { matchesVersion, parseVersionRequirement } from './version-requirement.js';

function matches(requirement: string, version: string): boolean {
  const parsed = parseVersionRequirement(requirement);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return matchesVersion(parsed, version);
}

describe('parseVersionRequirement', () => {
  it.each([
    '*',
    ' x ',
    'X',
    '1',
    '=3.11',
    '>= 1, <2',
    '>=1.0.0,<2',
    '~1.2',
    '1.*',
    '1.*.*',
    '1.2.x',
    '=1.2.3-rc.1+build.5',
    '^0.0.3',
    '18446744073709551615',
    ' 1.2 ',
  ])('takes %j', (text) => {
    expect(parseVersionRequirement(text)).not.toHaveProperty('problem');
  });

  it.each([
    '',
    ' ',
    '1 || 2',
    '1 - 2',
    '1 2',
    '01',
    '1.02',
    '1.2.3-01',
    '18446744073709551616',
    '99999999999999999999999',
    '1.2.3.4',
    '*, 1',
    '1, *',
    '>=*',
    '1.*.3',
    '>1,',
    ',1',
    '==1',
    '=> 1',
    '!=1',
    'latest',
    'v1.2.3',
    '1.2.',
    '1..2',
    '1.2-rc',
    '1.*-rc',
    '1.2.3-',
    '1.2.3-a..b',
    '1.2.3+',
    '1.2.3+a+b',
    '1.2.3-ä',
    '>',
    '1.2.3\t',
    '-1',
    '1'.padEnd(2000, ','),
    Array.from({ length: 33 }, () => '1').join(','),
  ])('refuses %j', (text) => {
    expect(parseVersionRequirement(text)).toEqual({ problem: expect.stringMatching(/\w/) });
  });
});

describe('matchesVersion', () => {
  it.each([
    ['1.2.3', '1.9.0'],
    ['1', '1.0.0'],
    ['0', '0.9.1'],
    ['1.2', '1.3.0'],
    ['0.2', '0.2.9'],
    ['0.2.3', '0.2.4'],
    ['0.0.3', '0.0.3'],
    ['=1.2', '1.2.9'],
    ['=3.11', '3.11.7'],
    ['=3.11', '3.11.7+'],
    ['=1.13.1', '1.13.1+cu117'],
    ['~1.2', '1.2.0'],
    ['~1.2.3', '1.2.4'],
    ['~1', '1.9.9'],
    ['>= 1, <2', '1.99.0'],
    ['<=1.2', '1.2.9'],
    ['>=1.2', '1.2.0'],
    ['>1.2.3', '1.2.4'],
    ['>1', '2.0.0'],
    ['<1.2.3', '1.2.2'],
    ['1.*', '1.5.0'],
    ['1.2.*', '1.2.7'],
    ['*', '0.0.1'],
    ['*', 'unknown'],
    ['=1.2.3+one', '1.2.3+two'],
    ['>=1.2.3-alpha', '1.2.3-beta'],
    ['>=1.2.3-alpha.9', '1.2.3-alpha.10'],
    ['=1.2.3-rc.1', '1.2.3-rc.1'],
    ['>=1.2.3-1', '1.2.3-a'],
    ['>=1.2.3-rc', '1.2.3'],
    ['^1.2.3-rc', '1.2.3-rc.1'],
    ['>=18446744073709551614', '18446744073709551615.0.0'],
  ])('%s takes %s', (requirement, version) => {
    expect(matches(requirement, version)).toBe(true);
  });

  it.each([
    ['1.2.3', '1.2.2'],
    ['1.2.3', '2.0.0'],
    ['0.2', '0.3.0'],
    ['0.2.3', '0.3.0'],
    ['0.0.3', '0.0.4'],
    ['0.0', '0.1.0'],
    ['1.2.3', '1.1.9'],
    ['=1.2', '1.3.0'],
    ['=3.11', '3.1.1'],
    ['~1.2', '1.3.0'],
    ['~1.2.3', '1.2.2'],
    ['>1', '1.5.0'],
    ['>1.2', '1.2.9'],
    ['<1', '1.0.0'],
    ['<2, >=1', '2.0.0'],
    ['1.*', '2.0.0'],
    ['*', '1.0.0-rc.1'],
    ['>=1', '2.0.0-rc.1'],
    ['>=1.2.3-alpha', '1.2.4-alpha'],
    ['=2.0.1', '2.0.1a0'],
    ['>=1.2.3-rc', '1.2.3-beta'],
    ['=1.2.3-alpha', '1.2.3-alpha.1'],
    ['>=0', 'unknown'],
    ['>18446744073709551614', '18446744073709551614.0.0'],
  ])('%s does not take %s', (requirement, version) => {
    expect(matches(requirement, version)).toBe(false);
  });

  it('takes what a bare version names, and refuses the next major', () => {
    const number = fc.bigInt({ min: 1n, max: 2n ** 63n });
    fc.assert(
      fc.property(number, number, number, (major, minor, patch) => {
        const text = `${major}.${minor}.${patch}`;
        expect(matches(text, text)).toBe(true);
        expect(matches(`=${text}`, `${major}.${minor}.${patch + 1n}`)).toBe(false);
        expect(matches(text, `${major + 1n}.0.0`)).toBe(false);
      }),
    );
  });

  it('never throws', () => {
    const soup = fc.string({ unit: fc.constantFrom(...Array.from('0123456789.,*xX=<>~^-+ ab|')) });
    fc.assert(
      fc.property(soup, soup, (requirement, version) => {
        const parsed = parseVersionRequirement(requirement);
        expect('problem' in parsed || typeof matchesVersion(parsed, version) === 'boolean').toBe(true);
      }),
    );
  });
});

describe('normalizeVersion', () => {
  it.each([
    ['3.11.7+', '3.11.7'],
    ['1.13.1+cu117', '1.13.1'],
    ['2.0.1a0', '2.0.1-alpha.0'],
    ['2.0.1a0+936e930', '2.0.1-alpha.0'],
    ['3.13.0rc2', '3.13.0-rc.2'],
    ['2.1.0.dev20230815', '2.1.0-dev.20230815'],
    ['1.2.3.post1', '1.2.3'],
    ['1.2.3-beta.4', '1.2.3-beta.4'],
    ['1.2.3.4', '1.2.3'],
    ['v20.19.0', '20.19.0'],
    ['2023.01.05', '2023.1.5'],
    ['3.11', '3.11.0'],
    ['3', '3.0.0'],
    [' 1.0.0\n', '1.0.0'],
    ['unknown', undefined],
    ['', undefined],
    ['1.2.3-a..b', undefined],
  ])('%j is %j', (text, expected) => {
    expect(normalizeVersion(text)).toBe(expected);
  });
});
