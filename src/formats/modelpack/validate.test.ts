import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breaches } from '../../../test/fixtures/modelpack/breaches.js';
import { overwrite } from '../../../test/fixtures/modelpack/overwrite.js';
import { build, toSource, validRecipe } from '../../../test/fixtures/modelpack/packages.js';
import { defaultLimits, hasErrors, isChecked } from '../../core/index.js';
import { rules } from './rules.js';
import { vintages } from './spec.js';
import { validate } from './validate.js';

const options = { limits: defaultLimits };

describe('validate', () => {
  it.each(vintages)('finds nothing in a good %s package', async (vintage) => {
    expect(await validate(build(await validRecipe(vintage)), options)).toEqual([]);
  });

  const cases = breaches.flatMap(({ rule: id, vintages: wanted, apply }) => {
    const rule = rules.find((each) => each.id === id);
    return (wanted ?? rule?.vintages ?? []).map((vintage) => ({ id, vintage, apply, rule }));
  });

  it.each(cases)('$id is found in $vintage, and nothing else', async ({ vintage, apply, rule }) => {
    const recipe = await validRecipe(vintage);
    await apply(recipe);
    const findings = await validate(build(recipe), options);
    expect(findings.map((finding) => finding.rule)).toEqual(findings.map(() => rule?.id));
    expect(findings.length).toBeGreaterThan(0);
    for (const finding of findings) {
      expect(finding).toMatchObject({ level: rule?.level, code: `modelpack/${rule?.slug}` });
      expect(finding.message).not.toMatch(/\.$/);
      expect(finding.where).not.toBe('');
      expect(finding.hint).toBeTruthy();
    }
  });

  it('has a broken fixture for every rule in every vintage that it can be checked in', () => {
    const covered = new Set(cases.map(({ id, vintage }) => `${id} ${vintage}`));
    const wanted = rules.filter(isChecked).flatMap(({ id, vintages: each }) => each.map((vintage) => `${id} ${vintage}`));
    expect(wanted.filter((each) => !covered.has(each))).toEqual([]);
  });

  it('says what it cannot read instead of failing', async () => {
    const findings = await validate(toSource(Buffer.from('{')), options);
    expect(findings).toMatchObject([{ level: 'error', code: 'modelpack/unreadable' }]);
  });

  it('names a layer that is not there', async () => {
    const source = build(await validRecipe('cncf'));
    const digest = JSON.parse(Buffer.from(source.bytes).toString()).layers[3].digest;
    const open: typeof source.blobs.open = async (descriptor, range) =>
      source.blobs.open(descriptor.digest === digest ? { ...descriptor, digest: `sha256:${'3'.repeat(64)}` } : descriptor, range);
    const findings = await validate({ ...source, blobs: { ...source.blobs, open } }, options);
    expect(findings).toMatchObject([{ level: 'error', code: 'modelpack/layer-missing', where: 'layers[3]' }]);
  });

  it('notes a compressed layer that is too large to list', async () => {
    const findings = await validate(build(await validRecipe('cncf')), { limits: { ...defaultLimits, listedLayerBytes: 10 } });
    expect(findings.map(({ level, code }) => `${level} ${code}`)).toEqual(['note modelpack/layer-not-listed', 'note modelpack/layer-not-listed']);
  });

  it('survives any change of manifest and config', async () => {
    const { layers, config } = await validRecipe('cncf');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('config', 'manifest'), fc.nat(40), fc.jsonValue({ maxDepth: 3 }), async (where, place, value) => {
        const recipe = { ...(await validRecipe('cncf')), layers, config };
        const edit = (json: object) => overwrite(json, place, value);
        const findings = await validate(build(where === 'config' ? { ...recipe, editConfig: edit } : { ...recipe, editManifest: edit }), options);
        expect(typeof hasErrors(findings)).toBe('boolean');
      }),
      { numRuns: 150 },
    );
  }, 20_000);
});
