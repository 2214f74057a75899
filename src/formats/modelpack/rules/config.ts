import { isJsonObject } from '../../../core/index.js';
import { type ConfigSection, configFields, diffIdsNames } from '../config-fields.js';
import { breach, holderOf } from './config-values.js';
import { type RuleContext, sectionOf, typedVintages } from './context.js';
import type { Breach, Rule } from './rule.js';

/** Rules on the config blob as a whole. */
export const configRules: readonly Rule[] = [
  {
    id: 'MP-25',
    slug: 'config-json',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'Model Artifact Configuration', quote: 'Each model artifact has an associated JSON structure' },
    title: 'the config blob is a JSON object',
    check: ({ config }) => (config.kind === 'malformed' ? [{ where: 'config blob', message: config.reason, hint: 'Pack the model again' }] : []),
  },
  {
    id: 'MP-26',
    slug: 'config-unknown-field',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config-schema.json', section: 'additionalProperties', quote: '"additionalProperties": false' },
    title: 'the config holds no other fields',
    check: checkUnknown,
  },
];

const known: Readonly<Record<string, readonly string[]>> = {
  '': ['descriptor', 'config', 'modelfs'],
  descriptor: namesOf('descriptor'),
  config: [...namesOf('config'), 'capabilities'],
  'config.capabilities': namesOf('capabilities'),
  modelfs: ['type', 'diffIds'],
};

function namesOf(section: ConfigSection): string[] {
  return configFields.filter((field) => field.section === section).map((field) => field.name);
}

/** Names of earlier releases; the cnai releases had them, so they are advice there and unknown fields in cncf. */
export function listFormerNames(context: RuleContext): readonly { where: string; name: string }[] {
  const fields = configFields.flatMap(({ section, name, former }) =>
    (former ?? []).map((each) => ({ section, path: section === 'capabilities' ? 'config.capabilities' : section, name, each })),
  );
  const found = fields
    .filter(({ section, each }) => Object.hasOwn(holderOf(context, section) ?? {}, each))
    .map(({ path, name, each }) => ({ where: `${path}.${each}`, name: `${path}.${name}` }));
  const modelfs = sectionOf(context, 'modelfs');
  return isJsonObject(modelfs) && Object.hasOwn(modelfs, diffIdsNames[1])
    ? [...found, { where: `modelfs.${diffIdsNames[1]}`, name: `modelfs.${diffIdsNames[0]}` }]
    : found;
}

function checkUnknown(context: RuleContext): Breach[] {
  if (context.config.kind !== 'json') return [];
  const { json } = context.config;
  const formerNames = listFormerNames(context);
  return Object.entries(known).flatMap(([path, names]) => {
    const holder = path.split('.').reduce<unknown>((value, key) => (key === '' ? value : isJsonObject(value) ? value[key] : undefined), json);
    if (!isJsonObject(holder)) return [];
    return Object.keys(holder)
      .filter((key) => !names.includes(key))
      .flatMap((key) => {
        const where = path === '' ? key : `${path}.${key}`;
        const former = formerNames.find((each) => each.where === where);
        if (former !== undefined && context.vintage === 'cnai') return [];
        return [
          breach(
            where,
            former === undefined ? 'The specification has no such field' : `It is an earlier name of ${former.name}`,
            former === undefined ? 'Leave it out, or put it into an annotation of the manifest' : `Rename it to ${former.name}`,
          ),
        ];
      });
  });
}
