import { expectObject, expectTime, expectTypes, breach, fieldOf, textsOf } from './config-values.js';
import { typedVintages } from './context.js';
import { type Rule, show } from './rule.js';

/** Rules on `descriptor`: who and what the model is. */
export const descriptorRules: readonly Rule[] = [
  {
    id: 'MP-27',
    slug: 'descriptor-required',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'Properties', quote: 'descriptor _object_, REQUIRED' },
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
    check: (context) =>
      fieldOf(context, 'descriptor', 'name') === ''
        ? [breach('descriptor.name', 'It is empty', 'Give the model a name, or leave the field out')]
        : [],
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
        return typeof value !== 'string' || URL.canParse(value)
          ? []
          : [breach(`descriptor.${name}`, `Expected a URL, found ${show(value)}`, 'Write the whole URL, with its scheme')];
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
        .map((license) =>
          breach(
            'descriptor.licenses',
            `${show(license)} is not an SPDX expression`,
            'Write for example "Apache-2.0" or "MIT OR Apache-2.0"; "LicenseRef-NAME" for what SPDX does not list',
          ),
        ),
  },
];

/** Idstrings, `+`, WITH, AND, OR and brackets; whether SPDX lists the name is not asked. */
function isSpdxExpression(text: string): boolean {
  const atom = String.raw`\(*\s*(?:DocumentRef-[A-Za-z0-9.-]+:)?[A-Za-z0-9][A-Za-z0-9.-]*\+?(?:\s+WITH\s+[A-Za-z0-9.-]+)?\s*\)*`;
  return text.length <= 1000 && text.split(/\s+(?:AND|OR)\s+/).every((part) => new RegExp(`^\\s*${atom}\\s*$`).test(part));
}
