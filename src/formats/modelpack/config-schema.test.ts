import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import schema from '../../../test/fixtures/modelpack/config-schema.json' with { type: 'json' };
import { overwrite } from '../../../test/fixtures/modelpack/overwrite.js';
import { build, type Recipe, validRecipe } from '../../../test/fixtures/modelpack/packages.js';
import { defaultLimits, hasErrors } from '../../core/index.js';
import { validate } from './validate.js';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const accepts = ajv.compile(schema);

/** What the schema leaves to the text: the form of paramSize, and that diffIds are digests, one a layer, of these bytes. */
const textOnly = new Set(['MP-35', 'MP-44', 'MP-45', 'MP-46']);

type Edit = Recipe['editConfig'];

async function judge(base: Recipe, editConfig: Edit): Promise<{ schema: boolean; ours: readonly string[] }> {
  let config: unknown;
  const remember: Edit = (made) => {
    editConfig(made);
    config = structuredClone(made);
  };
  const recipe = { ...base, editConfig: remember };
  const findings = await validate(build(recipe), { limits: defaultLimits });
  return { schema: accepts(config), ours: findings.filter((finding) => hasErrors([finding])).map(({ rule }) => rule ?? '') };
}

describe('rules on the config against the published schema', () => {
  it('both accept the valid one', async () => {
    expect(await judge(await validRecipe('cncf'), () => {})).toEqual({ schema: true, ours: [] });
  });

  it.each<[string, Edit]>([
    ['a number as version', (config) => (config.descriptor.version = 3)],
    ['a date with slashes', (config) => (config.descriptor.createdAt = '2025/01/01')],
    ['a bare date as cutoff', (config) => (config.config.capabilities.knowledgeCutoff = '2025-01-01')],
    ['a language of three letters', (config) => (config.config.capabilities.languages = ['eng'])],
    ['empty diffIds', (config) => (config.modelfs.diffIds = [])],
    ['an unknown capability', (config) => (config.config.capabilities.flying = true)],
    ['an empty config', (config) => Object.keys(config).forEach((key) => delete config[key])],
    ['the old diff_ids', (config) => (config.modelfs = { type: 'layers', diff_ids: config.modelfs.diffIds })],
  ])('both refuse %s', async (_, edit) => {
    const { schema: valid, ours } = await judge(await validRecipe('cncf'), edit);
    expect(valid).toBe(false);
    expect(ours).not.toEqual([]);
  });

  it('agree on any change', async () => {
    const base = await validRecipe('cncf');
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom('text', 'en', '', '2025-05-21T00:00:00Z', ['text'], {}, 'layers', 'float16'),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(40), value, async (place, replacement) => {
        const { schema: valid, ours } = await judge(base, (config) => overwrite(config, place, replacement));
        if (valid) expect(ours.filter((id) => !textOnly.has(id))).toEqual([]);
        else expect(ours).not.toEqual([]);
      }),
      { numRuns: 200 },
    );
  }, 20_000);
});
