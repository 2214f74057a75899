import { miscFolder, miscPrefix, tensorPrefix } from '../spec.js';
import { parseReference } from '../references.js';
import { childOf, isKnown, type Item, itemsOf, rootOf, type RuleContext } from './context.js';
import { expectType, expectTypes, require, tables, text, textsIn, textTable, wrong } from './fields.js';
import type { Breach, Rule } from './rule.js';
import { judgeSymbols } from './sample-values.js';

const section = '`carton.toml`';

/** Rules on self tests and examples. */
export const sampleRules: readonly Rule[] = [
  {
    id: 'CT-38',
    slug: 'self-test-tables',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'You can provide test data as well to enable basic self-tests' },
    title: 'self_test is an array of tables',
    check: ({ toml }) => expectType(toml, rootOf(toml), 'self_test', tables),
  },
  {
    id: 'CT-39',
    slug: 'self-test-reference',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'These reference tensors stored in the `tensor_data` folder' },
    title: 'values of self tests are @tensor_data/NAME, with a name of the index',
    check: (context) =>
      itemsOf(context.toml, 'self_test').flatMap((item) => ['inputs', 'expected_out'].flatMap((key) => judgeReferences(context, item, key, false))),
  },
  {
    id: 'CT-40',
    slug: 'self-test-by-hand',
    level: 'note',
    clause: { document: 'carton-v1.md', section, quote: 'Usually this section is not handwritten' },
    title: 'self tests are written by programs',
    notCheckable: 'Nothing in a carton says who wrote it',
  },
  {
    id: 'CT-41',
    slug: 'self-test-without-io',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: '`inputs` and `outputs` must be specified above in order to specify test data' },
    title: 'a carton with self tests declares inputs and outputs',
    check: (context) => expectIo(context, 'self_test'),
  },
  {
    id: 'CT-42',
    slug: 'self-test-texts',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: '[[self_test]] # Optional name = "" # Optional description = ""' },
    title: 'name and description of a self test are texts',
    check: ({ toml }) => itemsOf(toml, 'self_test').flatMap((item) => expectTypes(toml, item, ['name', 'description'], text)),
  },
  {
    id: 'CT-43',
    slug: 'self-test-inputs',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Required if this section is specified inputs = {' },
    title: 'a self test has inputs',
    check: ({ toml }) => itemsOf(toml, 'self_test').flatMap((item) => require(toml, item, 'inputs', textTable)),
  },
  {
    id: 'CT-44',
    slug: 'expected-out',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Optional # If this is specified, the output will be compared' },
    title: 'expected_out is a table of texts',
    check: ({ toml }) => itemsOf(toml, 'self_test').flatMap((item) => expectType(toml, item, 'expected_out', textTable)),
  },
  {
    id: 'CT-45',
    slug: 'comparison',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'using something conceptually similar to np.allclose' },
    title: 'outputs are compared within a tolerance',
    notCheckable: 'It asks something of programs; `modelport test` runs the self tests and compares so',
  },
  {
    id: 'CT-46',
    slug: 'example-tables',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Finally, you can also provide example inputs and outputs' },
    title: 'example is an array of tables',
    check: ({ toml }) => expectType(toml, rootOf(toml), 'example', tables),
  },
  {
    id: 'CT-47',
    slug: 'example-without-io',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: '`inputs` and `outputs` must be specified above in order to specify this section' },
    title: 'a carton with examples declares inputs and outputs',
    check: (context) => expectIo(context, 'example'),
  },
  {
    id: 'CT-48',
    slug: 'example-runnable',
    level: 'note',
    clause: { document: 'carton-v1.md', section, quote: "These examples don't need to be runnable" },
    title: 'an example need not run',
    notCheckable: 'It permits something',
  },
  {
    id: 'CT-49',
    slug: 'example-texts',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: '[[example]] # Optional name = "" # Optional description = ""' },
    title: 'name and description of an example are texts',
    check: ({ toml }) => itemsOf(toml, 'example').flatMap((item) => expectTypes(toml, item, ['name', 'description'], text)),
  },
  {
    id: 'CT-50',
    slug: 'example-values',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'inputs = { x = "@misc/input.png", y = "@tensor_data/something" }' },
    title: 'an example has inputs, and sample_out is a table of texts',
    check: ({ toml }) =>
      itemsOf(toml, 'example').flatMap((item) => [...require(toml, item, 'inputs', textTable), ...expectType(toml, item, 'sample_out', textTable)]),
  },
  {
    id: 'CT-51',
    slug: 'example-reference',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'These can reference things in the `tensor_data` or `misc`' },
    title: 'values of examples are @tensor_data/NAME with a name of the index, or @misc/PATH with a file that is there',
    check: (context) =>
      itemsOf(context.toml, 'example').flatMap((item) => ['inputs', 'sample_out'].flatMap((key) => judgeReferences(context, item, key, true))),
  },
  {
    id: 'CT-52',
    slug: 'symbol-value',
    level: 'warning',
    clause: { document: 'carton-v1.md', section, quote: "must resolve to the same value wherever it's used across all inputs and outputs" },
    title: 'a symbol has one value in all tensors of a self test or example (a warning, because the values of users decide)',
    check: judgeSymbols,
  },
];

function expectIo({ toml }: RuleContext, key: 'example' | 'self_test'): Breach[] {
  const isDeclared = toml.table['input'] !== undefined || toml.table['output'] !== undefined;
  return toml.table[key] === undefined || isDeclared
    ? []
    : [
        {
          where: toml.at(key),
          message: `Cannot use ${key}: the carton declares neither inputs nor outputs`,
          hint: 'Add [[input]] and [[output]] tables',
        },
      ];
}

function judgeReferences(context: RuleContext, item: Item, key: string, allowsMisc: boolean): Breach[] {
  const { toml } = context;
  return textsIn(childOf(item, key)).flatMap(({ path, value }) => {
    const problem = judgeReference(context, value, allowsMisc);
    return problem === undefined ? [] : [wrong(toml, path, value, problem, 'Correct the reference, or add what it names')];
  });
}

/** What was expected instead. */
function judgeReference(context: RuleContext, value: string, allowsMisc: boolean): string | undefined {
  const reference = parseReference(value);
  const forms = allowsMisc ? `${tensorPrefix}NAME or ${miscPrefix}PATH` : `${tensorPrefix}NAME`;
  if (reference === undefined || (reference.kind === 'misc' && !allowsMisc)) return forms;
  if (reference.kind === 'misc') return isKnown(context, `${miscFolder}${reference.path}`) ? undefined : 'a file of misc/';
  return context.tensorNames.has(reference.name) || context.index.kind === 'broken' ? undefined : 'a name of tensor_data/index.toml';
}
