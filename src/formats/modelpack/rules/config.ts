import { isJsonObject, type JsonObject } from '../../../core/index.js';
import { type ConfigField, type ConfigSection, configFields, diffIdsNames, modalities, paramSizeGrammar, precisions } from '../config-fields.js';
import { parseTime } from '../file-metadata.js';
import { expectedType } from '../read-config.js';
import { type RuleContext, sectionOf, typedVintages } from './context.js';
import { type Breach, type Rule, show } from './rule.js';

const properties = 'Properties';

/** Rules on the model config. */
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
  {
    id: 'MP-27',
    slug: 'descriptor-required',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: properties, quote: 'descriptor _object_, REQUIRED' },
    title: 'descriptor is an object',
    check: (context) => expectObject(context, 'descriptor'),
  },
  {
    id: 'MP-28',
    slug: 'descriptor-types',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config-schema.json', section: 'ModelDescriptor', quote: '"type": "string" … "type": "array"' },
    title: 'the fields of descriptor have the right types',
    check: (context) => expectTypes(context, 'descriptor'),
  },
  {
    id: 'MP-29',
    slug: 'created-at',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'descriptor.createdAt', quote: 'formatted as defined by RFC 3339, section 5.6' },
    title: 'createdAt is a time of RFC 3339',
    check: (context) => expectTime(context, 'descriptor', 'createdAt'),
  },
  {
    id: 'MP-30',
    slug: 'empty-name',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config-schema.json', section: 'ModelDescriptor.name', quote: '"minLength": 1' },
    title: 'name is not empty',
    check: (context) => (fieldOf(context, 'descriptor', 'name') === '' ? [breach('descriptor.name', 'It is empty', 'Give the model a name, or leave the field out')] : []),
  },
  {
    id: 'MP-31',
    slug: 'url',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'descriptor.docURL, descriptor.sourceURL', quote: 'A URL to get more information' },
    title: 'docURL and sourceURL are URLs',
    check: (context) =>
      ['docURL', 'sourceURL'].flatMap((name) => {
        const value = fieldOf(context, 'descriptor', name);
        return typeof value !== 'string' || URL.canParse(value) ? [] : [breach(`descriptor.${name}`, `Expected a URL, found ${show(value)}`, 'Write the whole URL, with its scheme')];
      }),
  },
  {
    id: 'MP-32',
    slug: 'license',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'descriptor.licenses', quote: 'represented as SPDX License Expressions' },
    title: 'licenses are SPDX expressions',
    check: (context) =>
      textsOf(fieldOf(context, 'descriptor', 'licenses'))
        .filter((license) => !isSpdxExpression(license))
        .map((license) => breach('descriptor.licenses', `${show(license)} is not an SPDX expression`, 'Write for example "Apache-2.0" or "MIT OR Apache-2.0"; "LicenseRef-NAME" for what SPDX does not list')),
  },
  {
    id: 'MP-33',
    slug: 'config-required',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: properties, quote: 'config _object_, REQUIRED' },
    title: 'config is an object',
    check: (context) => expectObject(context, 'config'),
  },
  {
    id: 'MP-34',
    slug: 'config-types',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config-schema.json', section: 'ModelConfig', quote: '"type": "string"' },
    title: 'the fields of config have the right types',
    check: (context) => [...expectTypes(context, 'config'), ...expectCapabilities(context)],
  },
  {
    id: 'MP-35',
    slug: 'param-size',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'config.paramSize', quote: 'The prefix is case-insensitive and must be one of the following: Q, T, B, M, K' },
    title: 'paramSize is a count with at most one decimal digit and a scale',
    check: (context) => {
      const value = fieldOf(context, 'config', 'paramSize');
      return typeof value !== 'string' || paramSizeGrammar.test(value) ? [] : [breach('config.paramSize', `Expected a count and one of Q, T, B, M, K, found ${show(value)}`, 'Write for example "6.7B", "100M" or "4.8K"')];
    },
  },
  {
    id: 'MP-36',
    slug: 'precision-separator',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'config.precision', quote: 'If multiple precisions are used, they should be separated by commas' },
    title: 'several precisions are separated by commas',
    check: (context) => {
      const value = fieldOf(context, 'config', 'precision');
      return typeof value === 'string' && /[a-z0-9][\s;/|+&]+[a-z]/i.test(value.trim()) && !value.includes(',') ? [breach('config.precision', `Expected commas, found ${show(value)}`, 'Write for example "float16,float8_e4m3"')] : [];
    },
  },
  {
    id: 'MP-37',
    slug: 'precision',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'config.precision', quote: 'Supported values include' },
    title: 'precision names values of the list',
    check: (context) => {
      const value = fieldOf(context, 'config', 'precision');
      const unknown = typeof value === 'string' ? value.split(/[\s,;/|+&]+/).filter((each) => !precisions.includes(each)) : [];
      return unknown.length === 0 ? [] : [breach('config.precision', `${unknown.map(show).join(', ')} is not in the list`, `Use ${precisions.slice(0, 4).join(', ')} and so on; say 4-bit forms in quantization`)];
    },
  },
  {
    id: 'MP-38',
    slug: 'input-types',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'config.capabilities.inputTypes', quote: 'The allowed values are: "text", "image", "audio", "video", or "embedding" … "other"' },
    title: 'inputTypes names allowed values',
    check: (context) => expectModalities(context, 'inputTypes'),
  },
  {
    id: 'MP-39',
    slug: 'output-types',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'config.capabilities.outputTypes', quote: 'The allowed values are: "text", "image", "audio", "video", or "embedding" … "other"' },
    title: 'outputTypes names allowed values',
    check: (context) => expectModalities(context, 'outputTypes'),
  },
  {
    id: 'MP-40',
    slug: 'knowledge-cutoff',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'config.capabilities.knowledgeCutoff', quote: 'formatted as defined by RFC 3339, section 5.6' },
    title: 'knowledgeCutoff is a time of RFC 3339',
    check: (context) => expectTime(context, 'capabilities', 'knowledgeCutoff'),
  },
  {
    id: 'MP-41',
    slug: 'languages',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'config.capabilities.languages', quote: 'Encoded as ISO 639 two letter codes' },
    title: 'languages are two letter codes',
    check: (context) =>
      textsOf(fieldOf(context, 'capabilities', 'languages'))
        .filter((language) => !/^[a-z]{2}$/.test(language))
        .map((language) => breach('config.capabilities.languages', `Expected two letters, found ${show(language)}`, 'Write for example "en"')),
  },
  {
    id: 'MP-42',
    slug: 'modelfs-required',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: properties, quote: 'modelfs _object_, REQUIRED' },
    title: 'modelfs is an object',
    check: (context) => expectObject(context, 'modelfs'),
  },
  {
    id: 'MP-43',
    slug: 'modelfs-type',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'modelfs.type', quote: 'Must be set to "layers"' },
    title: 'modelfs.type is "layers"',
    check: (context) => {
      const modelfs = sectionOf(context, 'modelfs');
      return !isJsonObject(modelfs) || modelfs['type'] === 'layers' ? [] : [breach('modelfs.type', `Expected "layers", found ${show(modelfs['type'])}`, 'Set modelfs.type to "layers"')];
    },
  },
  {
    id: 'MP-44',
    slug: 'diff-ids',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'modelfs.diffIds', quote: 'array of strings, REQUIRED' },
    title: 'modelfs.diffIds is a list of digests, at least one',
    check: (context) => {
      const modelfs = sectionOf(context, 'modelfs');
      if (!isJsonObject(modelfs)) return [];
      const found = diffIdsOf(context);
      const isList = Array.isArray(found) && found.length > 0 && found.every((each) => typeof each === 'string' && /^[a-z0-9+._-]+:[0-9a-zA-Z=_-]+$/.test(each));
      return isList ? [] : [breach('modelfs.diffIds', `Expected a list of digests, found ${show(found)}`, 'List the digest of each layer before compression')];
    },
  },
  {
    id: 'MP-45',
    slug: 'diff-ids-count',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'modelfs.diffIds', quote: 'An array of layer content hashes (DiffIDs), in order from first to last' },
    title: 'there is one diffId a layer',
    check: (context) => {
      const found = diffIdsOf(context);
      if (!Array.isArray(found) || found.length === 0 || found.length === context.view.layers.length) return [];
      return [breach('modelfs.diffIds', `Expected ${context.view.layers.length}, one a layer, found ${found.length}`, 'List the digest of each layer before compression, in the order of the layers')];
    },
  },
  {
    id: 'MP-46',
    slug: 'diff-id-value',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'Terminology', quote: "A layer DiffID is the hash of the layer's uncompressed tar archive" },
    title: 'the diffId of a layer that is not compressed is its digest',
    check: checkDiffIds,
  },
];

function breach(field: string, message: string, hint: string): Breach {
  return { where: `config blob, ${field}`, message, hint };
}

function holderOf(context: RuleContext, section: ConfigSection): JsonObject | undefined {
  const top = sectionOf(context, section === 'capabilities' ? 'config' : section);
  const holder = section === 'capabilities' && isJsonObject(top) ? top['capabilities'] : top;
  return isJsonObject(holder) ? holder : undefined;
}

function fieldOf(context: RuleContext, section: ConfigSection, name: string): unknown {
  return holderOf(context, section)?.[name];
}

/** Releases of the cnai names up to v0.0.6 wrote `diff_ids`. */
export function diffIdsOf(context: RuleContext): unknown {
  const modelfs = sectionOf(context, 'modelfs');
  if (!isJsonObject(modelfs)) return undefined;
  const [name, former] = diffIdsNames;
  return Object.hasOwn(modelfs, name) || context.vintage === 'cncf' ? modelfs[name] : modelfs[former];
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

function expectObject(context: RuleContext, name: string): Breach[] {
  const found = sectionOf(context, name);
  return context.config.kind !== 'json' || isJsonObject(found) ? [] : [breach(name, `Expected an object, found ${show(found)}`, `Add "${name}"; it may be empty unless it is modelfs`)];
}

function expectTypes(context: RuleContext, section: ConfigSection): Breach[] {
  const path = section === 'capabilities' ? 'config.capabilities' : section;
  return configFields
    .filter((field) => field.section === section)
    .flatMap((field) => {
      const value = fieldOf(context, section, field.name);
      return value === undefined || hasType(value, field.type) ? [] : [breach(`${path}.${field.name}`, `Expected ${expectedType(field.type)}, found ${show(value)}`, `Write ${expectedType(field.type)}, or leave the field out`)];
    });
}

function hasType(value: unknown, type: ConfigField['type']): boolean {
  return type === 'strings' ? Array.isArray(value) && value.every((each) => typeof each === 'string') : typeof value === type;
}

function expectCapabilities(context: RuleContext): Breach[] {
  const found = holderOf(context, 'config')?.['capabilities'];
  if (found === undefined || isJsonObject(found)) return expectTypes(context, 'capabilities');
  return [breach('config.capabilities', `Expected an object, found ${show(found)}`, 'Write an object, or leave the field out')];
}

function expectTime(context: RuleContext, section: ConfigSection, name: string): Breach[] {
  const value = fieldOf(context, section, name);
  const path = section === 'capabilities' ? `config.capabilities.${name}` : `${section}.${name}`;
  return typeof value !== 'string' || parseTime(value) !== undefined ? [] : [breach(path, `Expected a date and time of RFC 3339, found ${show(value)}`, 'Write for example "2026-01-02T00:00:00Z"')];
}

function expectModalities(context: RuleContext, name: string): Breach[] {
  return textsOf(fieldOf(context, 'capabilities', name))
    .filter((each) => !modalities.includes(each))
    .map((each) => breach(`config.capabilities.${name}`, `Expected one of ${modalities.join(', ')}, found ${show(each)}`, 'Use "other" for what is not in the list'));
}

/** Idstrings, `+`, WITH, AND, OR and brackets; whether SPDX lists the name is not asked. */
export function isSpdxExpression(text: string): boolean {
  const atom = String.raw`\(*\s*(?:DocumentRef-[A-Za-z0-9.-]+:)?[A-Za-z0-9][A-Za-z0-9.-]*\+?(?:\s+WITH\s+[A-Za-z0-9.-]+)?\s*\)*`;
  return text.length <= 1000 && text.split(/\s+(?:AND|OR)\s+/).every((part) => new RegExp(`^\\s*${atom}\\s*$`).test(part));
}

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
  const fields = configFields.flatMap(({ section, name, former }) => (former ?? []).map((each) => ({ section, path: section === 'capabilities' ? 'config.capabilities' : section, name, each })));
  const found = fields.filter(({ section, each }) => Object.hasOwn(holderOf(context, section) ?? {}, each)).map(({ path, name, each }) => ({ where: `${path}.${each}`, name: `${path}.${name}` }));
  const modelfs = sectionOf(context, 'modelfs');
  return isJsonObject(modelfs) && Object.hasOwn(modelfs, diffIdsNames[1]) ? [...found, { where: `modelfs.${diffIdsNames[1]}`, name: `modelfs.${diffIdsNames[0]}` }] : found;
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
        return [breach(where, former === undefined ? 'The specification has no such field' : `It is an earlier name of ${former.name}`, former === undefined ? 'Leave it out, or put it into an annotation of the manifest' : `Rename it to ${former.name}`)];
      });
  });
}

/** Free to check: what is not compressed hashes to its own digest. */
function checkDiffIds(context: RuleContext): Breach[] {
  const found = diffIdsOf(context);
  if (!Array.isArray(found) || found.length !== context.view.layers.length) return [];
  return context.layers.flatMap(({ view, content }) => {
    const isPlain = view.type?.encoding === 'raw' || (view.type?.encoding === 'tar' && content.compression === 'none');
    const digest = view.descriptor?.digest;
    if (!isPlain || digest === undefined || found[view.index] === digest) return [];
    return [breach(`modelfs.diffIds[${view.index}]`, `Expected ${digest}, the digest of ${view.where}, found ${show(found[view.index])}`, 'List the digest of each layer before compression, in the order of the layers')];
  });
}
