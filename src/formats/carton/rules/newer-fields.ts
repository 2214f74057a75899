import { rootOf, type RuleContext } from './context.js';
import { expectType, text, wrong } from './fields.js';
import type { Breach, Rule } from './rule.js';

const section = '`carton.toml`';
const longestShortDescription = 100;

/** Rules on the fields that the newest text of the format has and version 1 as it was specified has not. */
export const newerFieldRules: readonly Rule[] = [
  {
    id: 'CT-18',
    slug: 'short-description',
    level: 'error',
    clause: { document: 'format.md', section, quote: 'A short description that should be less than or equal to 100 characters' },
    title: 'short_description is a text',
    check: ({ toml }) => expectType(toml, rootOf(toml), 'short_description', text),
  },
  {
    id: 'CT-19',
    slug: 'short-description-length',
    level: 'warning',
    clause: { document: 'format.md', section, quote: 'should be less than or equal to 100 characters' },
    title: 'short_description has at most 100 characters',
    check: ({ toml, info: { shortDescription = '' } }) => {
      const length = Array.from(shortDescription).length;
      return length > longestShortDescription
        ? [
            wrong(
              toml,
              ['short_description'],
              shortDescription,
              `at most ${longestShortDescription} characters, and it has ${length}`,
              'Shorten it; model_description takes the rest',
            ),
          ]
        : [];
    },
  },
  {
    id: 'CT-20',
    slug: 'license',
    level: 'error',
    clause: { document: 'format.md', section, quote: "Can be something else if an SPDX license doesn't apply" },
    title: 'license is a text',
    check: ({ toml }) => expectType(toml, rootOf(toml), 'license', text),
  },
  {
    id: 'CT-21',
    slug: 'license-expression',
    level: 'note',
    clause: { document: 'format.md', section, quote: 'Should be an SPDX license expression' },
    title: 'license is an SPDX expression (a note, because something else may be right)',
    check: ({ toml, info: { license } }) =>
      license === undefined || isExpression(license)
        ? []
        : [wrong(toml, ['license'], license, 'an SPDX expression', 'Write for example "Apache-2.0" or "MIT OR Apache-2.0" where one applies')],
  },
  {
    id: 'CT-22',
    slug: 'repository',
    level: 'error',
    clause: { document: 'format.md', section, quote: 'A URL for a repository for this model' },
    title: 'repository is a URL',
    check: (context) => expectUrl(context, 'repository'),
  },
  {
    id: 'CT-23',
    slug: 'packing-code',
    level: 'warning',
    clause: { document: 'format.md', section, quote: 'this should be the repository containing the Carton packing code for the model' },
    title: 'repository is that of the packing code',
    notCheckable: 'Whether code for packing lies behind a URL, only its owner knows',
  },
  {
    id: 'CT-24',
    slug: 'homepage',
    level: 'error',
    clause: { document: 'format.md', section, quote: 'A URL for a website that is the homepage for this model' },
    title: 'homepage is a URL',
    check: (context) => expectUrl(context, 'homepage'),
  },
];

function expectUrl({ toml }: RuleContext, key: 'homepage' | 'repository'): Breach[] {
  const url = {
    expected: 'a URL',
    fits: (value: unknown) => typeof value === 'string' && /^(https?|git|ssh):\/\/\S+$/.test(value) && URL.canParse(value),
  };
  return expectType(toml, rootOf(toml), key, url);
}

/** Idstrings, `+`, WITH, AND, OR and brackets; whether SPDX lists the name is not asked. */
function isExpression(license: string): boolean {
  if (license.length > 1000) return false;
  const words = license.replaceAll(/[()]/g, ' ').trim().split(/\s+/);
  return (
    words.every((word, at) => (at % 2 === 0 ? /^[A-Za-z0-9.:-]+\+?$/.test(word) : ['AND', 'OR', 'WITH'].includes(word))) && words.length % 2 === 1
  );
}
