import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breaches, quietToml } from '../../../test/fixtures/carton/breaches.js';
import { accepted, oneTensor, refused } from '../../../test/fixtures/carton/carton-toml.js';
import { build, completeIndex, completeRecipe, completeToml, minimalRecipe } from '../../../test/fixtures/carton/packages.js';
import { createError, defaultLimits, hasErrors, isChecked } from '../../core/index.js';
import { rules } from './rules.js';
import { validate } from './validate.js';

const options = { limits: defaultLimits };

describe('validate', () => {
  it.each(['zip', 'folder'] as const)('finds nothing in a complete carton (%s)', async (container) => {
    expect(await validate(build({ ...completeRecipe(), container }), options)).toEqual([]);
  });

  it('finds nothing in the least', async () => {
    expect(await validate(build(minimalRecipe(quietToml)), options)).toEqual([]);
  });

  const cases = breaches.map((fixture, at) => ({ ...fixture, at, found: rules.find((each) => each.slug === fixture.rule) }));

  it.each(cases)('$rule is found, and nothing else ($at)', async ({ make, where, found }) => {
    const findings = await validate(build(make()), options);
    expect(findings.filter(({ code }) => code !== `carton/${found?.slug}`)).toEqual([]);
    expect(findings.length).toBeGreaterThan(0);
    for (const finding of findings) {
      expect(finding).toMatchObject({ level: found?.level, rule: found?.id, code: `carton/${found?.slug}` });
      expect(finding.message).not.toMatch(/\.$/);
      expect(finding.where).toBeTruthy();
      expect(finding.hint).toBeTruthy();
    }
    if (where !== undefined) expect(findings.map((finding) => finding.where)).toContain(where);
  });

  it('has a broken fixture for every rule that can be checked', () => {
    const covered = new Set(breaches.map(({ rule }) => rule));
    expect(rules.filter(isChecked).filter(({ slug }) => !covered.has(slug))).toEqual([]);
  });

  it.each(Object.entries(accepted))('takes the carton.toml "%s"', async (_name, toml) => {
    const recipe = minimalRecipe(toml);
    const findings = await validate(build({ ...recipe, files: { ...recipe.files, ...oneTensor } }), options);
    expect(findings.filter(({ level, rule }) => level === 'error' || rule === undefined)).toEqual([]);
  });

  it.each(Object.entries(refused))('refuses the carton.toml "%s"', async (_name, { rule, text }) => {
    const findings = await validate(build(minimalRecipe(text)), options);
    expect(findings.filter(({ level }) => level === 'error').map(({ code }) => code)).toEqual([`carton/${rule}`]);
  });

  it('says that a path that no line can hold is listed nowhere, once', async () => {
    const recipe = completeRecipe();
    recipe.files['model/a\rb'] = 'x';
    expect((await validate(build(recipe), options)).map(({ code }) => code)).toContain('carton/path-with-line-break');
  });

  it('stops after a hundred places of one rule and says how many there are', async () => {
    const inputs = Array.from({ length: 250 }, (_, at) => `[[input]]\nname = "i${at}"\ndtype = "bool"\nshape = []\n`).join('\n');
    const findings = await validate(
      build(minimalRecipe(`${inputs}\n${quietToml}`.replace(/^(.*)(spec_version = 1\nmodel_name = "least"\n)/s, '$2$1'))),
      options,
    );
    expect(findings.filter(({ code }) => code === 'carton/input-dtype')).toHaveLength(101);
    expect(findings.find(({ message }) => message === '150 more places break the same rule')?.level).toBe('error');
  });

  it('is not slowed down by a description full of links that lead nowhere', async () => {
    const started = performance.now();
    await validate(build(minimalRecipe(`model_description = "${'[a](b) <b> '.repeat(50_000)}"\n${quietToml}`)), options);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it('shows nothing from a carton that would move a cursor', async () => {
    const recipe = completeRecipe();
    recipe.files['carton.toml'] = completeToml
      .replace('"=1.12.1"', '"\\u001b[2J"')
      .replace('[runner.opts]', '[runner."\\u202eopts"]\na = 1\n\n[runner.opts]');
    const findings = await validate(build(recipe), options);
    expect(findings.map(({ code }) => code)).toEqual(['carton/version-requirement', 'carton/unknown-key']);
    for (const { message, hint = '' } of findings) for (const odd of ['\u001b', '\u202e']) expect(`${message} ${hint}`).not.toContain(odd);
  });

  it('says what it cannot read instead of failing', async () => {
    const source = build(completeRecipe());
    const open: typeof source.tree.open = async () => {
      throw createError('bytes/bad-archive', { message: 'Cannot read it: the archive is damaged' });
    };
    const findings = await validate({ ...source, tree: { ...source.tree, open } }, options);
    expect(findings.filter(({ level }) => level === 'error').map(({ code }) => code)).toContain('carton/toml');
    const lost: typeof source.tree.open = async () => {
      throw createError('bytes/io', { message: 'Cannot read it: the disk is gone' });
    };
    await expect(validate({ ...source, tree: { ...source.tree, open: lost } }, options)).rejects.toMatchObject({ code: 'bytes/io' });
  });

  it('survives any change of its documents', async () => {
    const pieces = [
      '"',
      '[',
      ']',
      '{',
      '}',
      '=',
      '\n',
      ' ',
      '5',
      '-1',
      '1.0',
      'true',
      '"@misc/x"',
      '[[input]]',
      '[urls]',
      '1979-05-27',
      '\\',
      'inner',
      '\ufeff',
      '\0',
    ];
    const paths = ['carton.toml', 'tensor_data/index.toml', 'tensor_data/tensor_1.toml', 'LINKS', 'MANIFEST'] as const;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.nat(2000), fc.nat(30), fc.constantFrom(...pieces), async (path, at, length, piece) => {
        const recipe = completeRecipe();
        const change = (text: string) => `${text.slice(0, at % text.length)}${piece}${text.slice((at % text.length) + length)}`;
        if (path === 'LINKS') recipe.links = change(recipe.links ?? '');
        else if (path === 'MANIFEST') recipe.editManifest = change;
        else recipe.files[path] = change(String(recipe.files[path]));
        for (const { rule, where, hint } of await validate(build(recipe), options))
          expect([rule, where, hint].every((each) => typeof each === 'string')).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('says the same of every value of another type, wherever it stands', async () => {
    const values = ['-5', '"text"', '[[]]', '{ a = { b = [1] } }', '[{}, 1979-05-27]'];
    for (const text of [completeToml, completeIndex])
      for (const [line] of text.matchAll(/^\w+ = .*$/gm))
        for (const value of values) {
          const recipe = completeRecipe();
          recipe.files[text === completeToml ? 'carton.toml' : 'tensor_data/index.toml'] = text.replace(
            line,
            `${line.split(' = ', 1)[0]} = ${value}`,
          );
          expect(typeof hasErrors(await validate(build(recipe), options))).toBe('boolean');
        }
  }, 20_000);
});
