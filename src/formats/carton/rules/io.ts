import type { TomlValue } from '../../../text/index.js';
import { cartonDtypes } from '../spec.js';
import { type Item, itemsOf, rootOf, type RuleContext, type TomlView } from './context.js';
import { expectType, type FieldType, require, tables, text, wrong } from './fields.js';
import type { Breach, Rule } from './rule.js';

const section = '`carton.toml`';

const dtypeWord: FieldType = {
  expected: `one of ${cartonDtypes.join(', ')}`,
  fits: (value) => (cartonDtypes as readonly unknown[]).includes(value),
};
const shapeForm: FieldType = {
  expected: '"*", a symbol, or a list of sizes and symbols',
  fits: (value) => typeof value === 'string' || Array.isArray(value),
};

type FieldCheck = (view: TomlView, item: Item) => Breach[];

const checkName: FieldCheck = (view, item) => require(view, item, 'name', text);
const checkDtype: FieldCheck = (view, item) => require(view, item, 'dtype', dtypeWord);
const checkShape: FieldCheck = (view, item) => require(view, item, 'shape', shapeForm);
const checkDimensions: FieldCheck = (view, { table, path }) => {
  const { shape } = table;
  return Array.isArray(shape)
    ? shape.flatMap((size: TomlValue, at) =>
        isDimension(size) ? [] : [wrong(view, [...path, 'shape', at], size, 'an integer from 0 on or a symbol')],
      )
    : [];
};
const checkDescription: FieldCheck = (view, item) => expectType(view, item, 'description', text);
const checkInternalName: FieldCheck = (view, item) => expectType(view, item, 'internal_name', text);

/** Rules on inputs and outputs. */
export const ioRules: readonly Rule[] = [
  {
    id: 'CT-25',
    slug: 'io-missing',
    level: 'warning',
    clause: { document: 'carton-v1.md', section, quote: 'Specifying inputs and outputs is optional, but highly recommended' },
    title: 'inputs and outputs are declared',
    check: ({ toml }) =>
      toml.kind === 'read' && !['input', 'output', 'self_test', 'example'].some((key) => has(toml, key))
        ? [
            {
              where: toml.at(),
              message: 'Neither inputs nor outputs are declared, so nobody can tell how to call the model',
              hint: 'Add [[input]] and [[output]] tables',
            },
          ]
        : [],
  },
  {
    id: 'CT-26',
    slug: 'io-incomplete',
    level: 'warning',
    clause: { document: 'carton-v1.md', section, quote: 'If you specify one input or output, you must specify all inputs and outputs' },
    title: 'inputs and outputs are declared both (a warning, because a model may have none of one, and readers take it)',
    check: ({ toml }) => {
      const [declared, other] = has(toml, 'input') ? ['input', 'output'] : ['output', 'input'];
      return has(toml, declared) && !has(toml, other)
        ? [
            {
              where: toml.at(declared),
              message: `${declared}s are declared and ${other}s are not`,
              hint: `Add an [[${other}]] table for each ${other}`,
            },
          ]
        : [];
    },
  },
  {
    id: 'CT-27',
    slug: 'io-tables',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: "the input and output structures have an ordering (they're arrays of toml tables)" },
    title: 'input and output are arrays of tables',
    check: ({ toml }) => ['input', 'output'].flatMap((key) => expectType(toml, rootOf(toml), key, tables)),
  },
  {
    id: 'CT-28',
    slug: 'io-order',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'This ordering is used if the code running the model does not specify tensor names' },
    title: 'values without names are taken in the declared order',
    notCheckable: 'It asks something of programs; `run` takes bare values in this order, and every list of modelport keeps it',
  },
  {
    id: 'CT-29',
    slug: 'input-name',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'A string name = "x"' },
    title: 'every input has a name',
    check: onInputs(checkName),
  },
  {
    id: 'CT-30',
    slug: 'input-dtype',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'The dtype. Valid values are - float32 - float64 - string - int8' },
    title: 'every input has one of the eleven dtypes',
    check: onInputs(checkDtype),
  },
  {
    id: 'CT-31',
    slug: 'input-shape',
    level: 'error',
    clause: {
      document: 'carton-v1.md',
      section,
      quote: 'Shape is either: - a symbol … - The string "*" … - An empty list … - A list with one entry per dimension',
    },
    title: 'every input has a shape: a symbol, "*" or a list',
    check: onInputs(checkShape),
  },
  {
    id: 'CT-32',
    slug: 'input-dimension',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Each entry can be a symbol or an integer' },
    title: 'every entry of a shape is a symbol or an integer that is not negative',
    check: onInputs(checkDimensions),
  },
  {
    id: 'CT-33',
    slug: 'reserved-symbol',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: '"*" is a reserved symbol name. It can have a different value anytime it\'s used' },
    title: '"*" stands for any value, each time',
    notCheckable: 'It permits something: values are not compared where "*" stands',
  },
  {
    id: 'CT-34',
    slug: 'input-description',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Optional description of the input' },
    title: 'the description of an input is a text',
    check: onInputs(checkDescription),
  },
  {
    id: 'CT-35',
    slug: 'internal-name',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'All inputs and outputs can have an "internal name" as well' },
    title: 'the internal_name of an input is a text',
    check: onInputs(checkInternalName),
  },
  {
    id: 'CT-36',
    slug: 'internal-name-hidden',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: "Carton doesn't expose these names to callers, but runners can use them" },
    title: 'callers use the declared names',
    notCheckable: 'It asks something of programs; the onnx runtime maps internal names to those of the graph',
  },
  {
    id: 'CT-37',
    slug: 'output-structure',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Same structure as inputs' },
    title: 'outputs have the fields of inputs, with values of the same kind',
    check: ({ toml }) =>
      itemsOf(toml, 'output').flatMap((item) =>
        [checkName, checkDtype, checkShape, checkDimensions, checkDescription, checkInternalName].flatMap((check) => check(toml, item)),
      ),
  },
];

/** Rules on inputs and outputs that come from practice. */
export const ioAdvice: readonly Rule[] = [
  {
    id: 'CT-A3',
    slug: 'io-names',
    level: 'error',
    clause: { document: 'practice', section: 'inputs and outputs', quote: 'values are given and returned by name' },
    title: 'no two inputs have one name, and no two outputs',
    check: ({ toml }) => ['input', 'output'].flatMap((key) => findTwice(toml, itemsOf(toml, key))),
  },
];

function onInputs(check: FieldCheck): (context: RuleContext) => Breach[] {
  return ({ toml }) => itemsOf(toml, 'input').flatMap((item) => check(toml, item));
}

function has(view: TomlView, key: string): boolean {
  return view.table[key] !== undefined;
}

function isDimension(value: TomlValue): boolean {
  return typeof value === 'string' || (typeof value === 'bigint' && value >= 0n);
}

/** Items whose name stands before them already. */
export function findTwice(view: TomlView, items: readonly Item[]): Breach[] {
  const seen = new Set<unknown>();
  return items.flatMap(({ table: { name }, path }) => {
    const isTwice = typeof name === 'string' && seen.has(name);
    seen.add(name);
    return isTwice ? [wrong(view, [...path, 'name'], name, 'a name that stands only once')] : [];
  });
}
