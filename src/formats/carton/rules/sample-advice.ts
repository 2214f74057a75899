import { childOf, type Item, itemsOf, type RuleContext } from './context.js';
import { expectTypes, missing, name } from './fields.js';
import { type Breach, type Rule, show } from './rule.js';
import { judgeContracts } from './sample-values.js';

/** Rules on self tests and examples that come from practice. */
export const sampleAdvice: readonly Rule[] = [
  {
    id: 'CT-A4',
    slug: 'sample-out-missing',
    level: 'warning',
    clause: { document: 'practice', section: 'the original reader', quote: 'it refuses a file with an example that has no sample_out' },
    title: 'every example has sample_out',
    check: ({ toml }) =>
      itemsOf(toml, 'example').flatMap((item) =>
        item.table['sample_out'] === undefined ? [missing(toml, item, 'sample_out', 'Write sample_out = {}')] : [],
      ),
  },
  {
    id: 'CT-A5',
    slug: 'sample-names',
    level: 'warning',
    clause: { document: 'practice', section: 'self tests and examples', quote: 'a test that leaves an input out, or names another, cannot run' },
    title: 'self tests name all declared inputs, and no names that are not declared stand in self tests and examples',
    check: (context) => [
      ...itemsOf(context.toml, 'self_test').flatMap((item) => [
        ...findUndeclared(context, item, 'inputs', 'input'),
        ...findLeftOut(context, item),
        ...findUndeclared(context, item, 'expected_out', 'output'),
      ]),
      ...itemsOf(context.toml, 'example').flatMap((item) => [
        ...findUndeclared(context, item, 'inputs', 'input'),
        ...findUndeclared(context, item, 'sample_out', 'output'),
      ]),
    ],
  },
  {
    id: 'CT-A6',
    slug: 'sample-contract',
    level: 'warning',
    clause: {
      document: 'practice',
      section: 'self tests and examples',
      quote: 'a tensor that is not what the model declares fails before the model sees it',
    },
    title: 'tensors of self tests and examples have the declared dtype and shape',
    check: judgeContracts,
  },
  {
    id: 'CT-A7',
    slug: 'tolerance',
    level: 'warning',
    clause: {
      document: 'practice',
      section: 'self tests and examples',
      quote: 'rtol and atol of a self test are modelport’s own; others ignore them',
    },
    title: 'rtol and atol are numbers that are not negative',
    check: ({ toml }) =>
      itemsOf(toml, 'self_test').flatMap((item) =>
        expectTypes(toml, item, ['rtol', 'atol'], {
          expected: 'a number that is not negative',
          fits: (value) => (typeof value === 'number' || typeof value === 'bigint') && Number(value) >= 0 && Number.isFinite(Number(value)),
        }),
      ),
  },
];

/** Nothing is declared: that has a rule of its own. */
function findUndeclared({ toml, info }: RuleContext, item: Item, key: string, side: 'input' | 'output'): Breach[] {
  const declared = (side === 'input' ? info.inputs : info.outputs).map((spec) => spec.name);
  const held = childOf(item, key);
  if (declared.length === 0 || held === undefined) return [];
  return Object.keys(held.table)
    .filter((each) => !declared.includes(each))
    .map((each) => ({
      where: toml.at(...held.path, each),
      message: `${name([...held.path, each])} is for ${show(each)}, and no such ${side} is declared`,
      hint: `Declared are: ${declared.slice(0, 20).map(show).join(', ')}`,
    }));
}

function findLeftOut({ toml, info }: RuleContext, item: Item): Breach[] {
  const held = childOf(item, 'inputs');
  return held === undefined
    ? []
    : info.inputs.filter((spec) => !Object.hasOwn(held.table, spec.name)).map((spec) => missing(toml, held, spec.name, 'Add the input'));
}
