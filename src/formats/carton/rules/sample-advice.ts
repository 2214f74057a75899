import type { TensorSpec } from '../../../core/index.js';
import { childOf, type Item, itemsOf, type TomlView } from './context.js';
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
    check: ({ toml, info }) => {
      const [inputs, outputs] = [declare('input', info.inputs), declare('output', info.outputs)];
      return [
        ...itemsOf(toml, 'self_test').flatMap((item) => [
          ...findUndeclared(toml, childOf(item, 'inputs'), inputs),
          ...findLeftOut(toml, childOf(item, 'inputs'), inputs),
          ...findUndeclared(toml, childOf(item, 'expected_out'), outputs),
        ]),
        ...itemsOf(toml, 'example').flatMap((item) => [
          ...findUndeclared(toml, childOf(item, 'inputs'), inputs),
          ...findUndeclared(toml, childOf(item, 'sample_out'), outputs),
        ]),
      ];
    },
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

interface Declared {
  readonly side: 'input' | 'output';
  readonly names: ReadonlySet<string>;
}

function declare(side: Declared['side'], specs: readonly TensorSpec[]): Declared {
  return { side, names: new Set(specs.map((spec) => spec.name)) };
}

/** Nothing is declared: that has a rule of its own. */
function findUndeclared(toml: TomlView, held: Item | undefined, { side, names }: Declared): Breach[] {
  if (names.size === 0 || held === undefined) return [];
  return Object.keys(held.table)
    .filter((each) => !names.has(each))
    .map((each) => ({
      where: toml.at(...held.path, each),
      message: `${name([...held.path, each])} is for ${show(each)}, and no such ${side} is declared`,
      hint: `Declared are: ${listFew(names, names.size)}`,
    }));
}

/** One breach a test, however much it leaves out. */
function findLeftOut(toml: TomlView, held: Item | undefined, { names }: Declared): Breach[] {
  if (held === undefined) return [];
  const left = names.size - Object.keys(held.table).filter((each) => names.has(each)).length;
  if (left === 0) return [];
  const message = `${name(held.path)} leaves out ${listFew(notIn(held, names), left)}`;
  return [{ where: toml.at(...held.path), message, hint: 'Add a tensor for every input' }];
}

function* notIn({ table }: Item, names: ReadonlySet<string>): Iterable<string> {
  for (const each of names) if (!Object.hasOwn(table, each)) yield each;
}

function listFew(names: Iterable<string>, count: number): string {
  const shown: string[] = [];
  for (const each of names) if (shown.push(show(each)) === few) break;
  return `${shown.join(', ')}${count > few ? ` and ${count - few} more` : ''}`;
}

const few = 10;
