import { isJsonObject } from '../../../core/index.js';
import { modalities, paramSizeGrammar, precisions } from '../config-fields.js';
import { breach, expectObject, expectTime, expectTypes, fieldOf, holderOf, textsOf } from './config-values.js';
import { type RuleContext, typedVintages } from './context.js';
import { type Breach, type Rule, show } from './rule.js';

/** Rules on `config`: the technical description. */
export const technicalRules: readonly Rule[] = [
  {
    id: 'MP-33',
    slug: 'config-required',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'Properties', quote: 'config _object_, REQUIRED' },
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
    clause: {
      document: 'config.md',
      section: 'config.paramSize',
      quote: 'The prefix is case-insensitive and must be one of the following: Q, T, B, M, K',
    },
    title: 'paramSize is a count with at most one decimal digit and a scale',
    check: (context) => {
      const value = fieldOf(context, 'config', 'paramSize');
      return typeof value !== 'string' || paramSizeGrammar.test(value)
        ? []
        : [
            breach(
              'config.paramSize',
              `Expected a count and one of Q, T, B, M, K, found ${show(value)}`,
              'Write for example "6.7B", "100M" or "4.8K"',
            ),
          ];
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
      return typeof value === 'string' && /[a-z0-9][\s;/|+&]+[a-z]/i.test(value.trim()) && !value.includes(',')
        ? [breach('config.precision', `Expected commas, found ${show(value)}`, 'Write for example "float16,float8_e4m3"')]
        : [];
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
      return unknown.length === 0
        ? []
        : [
            breach(
              'config.precision',
              `${unknown.map(show).join(', ')} is not in the list`,
              `Use ${precisions.slice(0, 4).join(', ')} and so on; say 4-bit forms in quantization`,
            ),
          ];
    },
  },
  {
    id: 'MP-38',
    slug: 'input-types',
    level: 'error',
    vintages: typedVintages,
    clause: {
      document: 'config.md',
      section: 'config.capabilities.inputTypes',
      quote: 'The allowed values are: "text", "image", "audio", "video", or "embedding" … "other"',
    },
    title: 'inputTypes names allowed values',
    check: (context) => expectModalities(context, 'inputTypes'),
  },
  {
    id: 'MP-39',
    slug: 'output-types',
    level: 'error',
    vintages: typedVintages,
    clause: {
      document: 'config.md',
      section: 'config.capabilities.outputTypes',
      quote: 'The allowed values are: "text", "image", "audio", "video", or "embedding" … "other"',
    },
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
];

function expectCapabilities(context: RuleContext): Breach[] {
  const found = holderOf(context, 'config')?.['capabilities'];
  if (found === undefined || isJsonObject(found)) return expectTypes(context, 'capabilities');
  return [breach('config.capabilities', `Expected an object, found ${show(found)}`, 'Write an object, or leave the field out')];
}

function expectModalities(context: RuleContext, name: string): Breach[] {
  return textsOf(fieldOf(context, 'capabilities', name))
    .filter((each) => !modalities.includes(each))
    .map((each) =>
      breach(
        `config.capabilities.${name}`,
        `Expected one of ${modalities.join(', ')}, found ${show(each)}`,
        'Use "other" for what is not in the list',
      ),
    );
}
