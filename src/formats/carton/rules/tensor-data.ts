import { judgePath } from '../../../bytes/index.js';
import { findDtype, type Limits } from '../../../core/index.js';
import type { TomlValue } from '../../../text/index.js';
import { resolveMember } from '../link-entries.js';
import { cartonDtypes, tensorFolder, tensorIndexName } from '../spec.js';
import { type Item, isKnown, itemsOf, memberPlace, rootOf, type RuleContext } from './context.js';
import { count, expectType, require, tables, text, texts, wrong } from './fields.js';
import { findTwice } from './io.js';
import { type Breach, type Rule, show } from './rule.js';

const section = '`tensor_data`';
const dtypes: readonly unknown[] = [...cartonDtypes, 'nested'];

/** Rules on tensor_data/. */
export const tensorRules: readonly Rule[] = [
  {
    id: 'CT-79',
    slug: 'unused-tensor',
    level: 'note',
    clause: { document: 'carton-v1.md', section, quote: 'contains test data and/or example data referenced by the `carton.toml` file' },
    title: 'every tensor is used by a self test, an example or a nested tensor, and every file by a tensor',
    check: findUnused,
  },
  {
    id: 'CT-80',
    slug: 'index',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'This folder contains an `index.toml` file of the following format' },
    title: 'tensor_data/index.toml is TOML with an array of tables tensor',
    check: ({ index, documents: { tensorIndex } }) =>
      tensorIndex.kind === 'broken'
        ? [
            {
              where: () => tensorIndex.finding.where ?? tensorIndexName,
              message: tensorIndex.finding.message,
              hint: tensorIndex.finding.hint ?? 'Mend the place that it names',
            },
          ]
        : expectType(index, rootOf(index), 'tensor', tables),
  },
  {
    id: 'CT-81',
    slug: 'index-missing',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'This file must exist if there are any other files in this directory' },
    title: 'where there are files in tensor_data/ there is an index',
    check: (context) =>
      context.index.kind === 'absent' && listFiles(context).length > 0
        ? [
            {
              where: memberPlace(tensorIndexName),
              message: `Cannot find ${tensorIndexName}: nothing says what ${show(listFiles(context)[0])} is`,
              hint: 'Pack the model again',
            },
          ]
        : [],
  },
  {
    id: 'CT-82',
    slug: 'tensor-name',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: '[[tensor]] name = "some_string_tensor"' },
    title: 'every tensor has a name of its own',
    check: ({ index }) => [
      ...itemsOf(index, 'tensor').flatMap((item) => require(index, item, 'name', text)),
      ...findTwice(index, itemsOf(index, 'tensor')),
    ],
  },
  {
    id: 'CT-83',
    slug: 'tensor-dtype',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'dtype = "float32" … dtype = "nested"' },
    title: 'every tensor has one of the eleven dtypes or is nested',
    check: ({ index }) =>
      itemsOf(index, 'tensor').flatMap((item) =>
        require(index, item, 'dtype', { expected: `one of ${dtypes.join(', ')}`, fits: (value) => dtypes.includes(value) }),
      ),
  },
  {
    id: 'CT-84',
    slug: 'tensor-shape',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'shape = [2, 2, 3]' },
    title: 'every plain tensor has a shape, a list of integers from 0 on',
    check: ({ index }) => plain(index).flatMap((item) => require(index, item, 'shape', { expected: 'a list of integers from 0 on', fits: isShape })),
  },
  {
    id: 'CT-85',
    slug: 'tensor-file',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'file = "tensor_0.toml"' },
    title: 'every plain tensor names a file of tensor_data/',
    check: (context) => plain(context.index).flatMap((item) => judgeFile(context, item)),
  },
  {
    id: 'CT-86',
    slug: 'inner',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'dtype = "nested" … inner = [' },
    title: 'inner is a list of names of the index; a nested tensor has it, and a plain one only an empty one',
    check: (context) => itemsOf(context.index, 'tensor').flatMap((item) => judgeInner(context, item)),
  },
  {
    id: 'CT-87',
    slug: 'nested-in-nested',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'The inner tensors must not be nested tensors' },
    title: 'inner tensors are plain',
    check: ({ index }) => {
      const nested = new Set(itemsOf(index, 'tensor').flatMap(({ table }) => (table['dtype'] === 'nested' ? [table['name']] : [])));
      return innerNames(index).flatMap(({ item, at, value }) =>
        nested.has(value) ? [wrong(index, [...item.path, 'inner', at], value, 'a plain tensor')] : [],
      );
    },
  },
  {
    id: 'CT-88',
    slug: 'numeric-file',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Numeric tensors are stored in `.bin` files' },
    title: 'the file of a numeric tensor ends in .bin',
    check: ({ index }) =>
      plain(index)
        .filter(isNumeric)
        .flatMap((item) => expectExtension({ index }, item, '.bin')),
  },
  {
    id: 'CT-89',
    slug: 'numeric-size',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'as little-endian, contiguous, C-order tensors' },
    title: 'the file of a numeric tensor has the size that dtype and shape take (which order its bytes are in, nothing tells)',
    check: (context) =>
      plain(context.index)
        .filter(isNumeric)
        .flatMap((item) => judgeSize(context, item)),
  },
  {
    id: 'CT-90',
    slug: 'text-file',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'String tensors are stored in `toml` files (one for each string tensor)' },
    title: 'a string tensor has a .toml file of its own',
    check: ({ index }) => {
      const items = plain(index).filter(({ table }) => table['dtype'] === 'string');
      const files = new Set<unknown>();
      return items.flatMap((item) => {
        const isShared = files.size === files.add(item.table['file']).size;
        return [
          ...expectExtension({ index }, item, '.toml'),
          ...(isShared ? [wrong(index, [...item.path, 'file'], item.table['file'], 'a file that no other tensor has')] : []),
        ];
      });
    },
  },
  {
    id: 'CT-91',
    slug: 'text-values',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'data = ["a", "b", "c", "d", "e"]' },
    title: 'the file of a string tensor holds a flat list of texts, as many as the shape takes',
    check: (context) => plain(context.index).flatMap((item) => judgeTexts(context, item)),
  },
  {
    id: 'CT-92',
    slug: 'lazy-loading',
    level: 'note',
    clause: { document: 'carton-v1.md', section, quote: 'this structure enables fine-grained lazy loading of tensor data' },
    title: 'tensors are read one by one',
    notCheckable: 'It gives a reason; `inspect` reads no tensor and `cat` one',
  },
];

/** What the original reader insists on in the index. */
export const tensorAdvice: readonly Rule[] = [
  {
    id: 'CT-A13',
    slug: 'index-always',
    level: 'warning',
    clause: { document: 'practice', section: 'the original reader', quote: 'it fails on a carton without tensor_data/index.toml' },
    title: 'tensor_data/index.toml is there even where there are no tensors',
    check: (context) =>
      context.index.kind === 'absent' && listFiles(context).length === 0
        ? [
            {
              where: memberPlace(tensorIndexName),
              message: `The original reader cannot open a carton without ${tensorIndexName}`,
              hint: 'Pack the model again: modelport pack writes one',
            },
          ]
        : [],
  },
  {
    id: 'CT-A14',
    slug: 'inner-always',
    level: 'warning',
    clause: { document: 'practice', section: 'the original reader', quote: 'it fails on a plain tensor without inner' },
    title: 'plain tensors have inner = []',
    check: ({ index }) =>
      plain(index)
        .filter(({ table }) => table['inner'] === undefined)
        .map(({ table, path }) => ({
          where: index.at(...path),
          message: `The original reader cannot open a carton whose tensor ${show(table['name'])} has no inner`,
          hint: 'Write inner = []',
        })),
  },
  {
    id: 'CT-A15',
    slug: 'inner-shared',
    level: 'warning',
    clause: { document: 'practice', section: 'the original reader', quote: 'it moves an inner tensor into the nested one' },
    title: 'no tensor is in two nested ones',
    check: ({ index }) => {
      const seen = new Set<string>();
      return innerNames(index).flatMap(({ item, at, value }) =>
        seen.size === seen.add(value).size
          ? [wrong(index, [...item.path, 'inner', at], value, 'a tensor that is in no other (the original reader fails)')]
          : [],
      );
    },
  },
];

function plain(index: RuleContext['index']): readonly Item[] {
  return itemsOf(index, 'tensor').filter(({ table }) => table['dtype'] !== 'nested');
}

function isNumeric({ table: { dtype } }: Item): boolean {
  return dtype !== 'string' && dtypes.includes(dtype);
}

function isShape(value: TomlValue): boolean {
  return Array.isArray(value) && value.every((size: TomlValue) => count.fits(size));
}

/** Files of tensor_data/ but the index, there or linked. */
function listFiles({ members, manifest }: RuleContext): string[] {
  const paths = new Set([...members.keys(), ...(manifest?.digests.keys() ?? [])]);
  return [...paths].filter((path) => path.startsWith(tensorFolder) && path !== tensorIndexName);
}

/** The member that holds a tensor; undefined when `file` is no path. */
function pathOf({ table: { file } }: Item, limits: Limits): string | undefined {
  return typeof file === 'string' && judgePath(file, limits) === undefined ? `${tensorFolder}${file}` : undefined;
}

function judgeFile(context: RuleContext, item: Item): Breach[] {
  const { index, documents } = context;
  const { file } = item.table;
  if (typeof file !== 'string') return require(index, item, 'file', text);
  const path = pathOf(item, documents.limits);
  const reason = path === undefined ? judgePath(file, documents.limits) : isKnown(context, path) ? undefined : 'the carton has no such file';
  return reason === undefined ? [] : [wrong(index, [...item.path, 'file'], file, `a file of ${tensorFolder}, and ${reason}`, 'Pack the model again')];
}

function judgeInner({ index, tensorNames }: RuleContext, item: Item): Breach[] {
  const { dtype, inner } = item.table;
  const form = dtype === 'nested' ? require(index, item, 'inner', texts) : expectType(index, item, 'inner', texts);
  if (form.length > 0) return form;
  if (dtype !== 'nested' && Array.isArray(inner) && inner.length > 0)
    return [wrong(index, [...item.path, 'inner'], inner, 'an empty list in a plain tensor')];
  return innerOf(item).flatMap(({ at, value }) =>
    tensorNames.has(value) ? [] : [wrong(index, [...item.path, 'inner', at], value, 'a name of the index')],
  );
}

interface InnerName {
  readonly item: Item;
  readonly at: number;
  readonly value: string;
}

function innerOf(item: Item): readonly InnerName[] {
  const { inner } = item.table;
  return Array.isArray(inner) ? inner.flatMap((value: TomlValue, at) => (typeof value === 'string' ? [{ item, at, value }] : [])) : [];
}

function innerNames(index: RuleContext['index']): readonly InnerName[] {
  return itemsOf(index, 'tensor').flatMap(innerOf);
}

function expectExtension({ index }: Pick<RuleContext, 'index'>, item: Item, extension: string): Breach[] {
  const { file } = item.table;
  return typeof file === 'string' && !file.endsWith(extension)
    ? [wrong(index, [...item.path, 'file'], file, `a name that ends in ${extension}`)]
    : [];
}

/** Linked files are not fetched, so their size is not known. */
function judgeSize({ index, documents: { members, limits } }: RuleContext, item: Item): Breach[] {
  const { dtype, shape } = item.table;
  const path = pathOf(item, limits);
  const found = path === undefined ? undefined : resolveMember(members, path);
  if (found?.kind !== 'file' || shape === undefined || !isShape(shape)) return [];
  const expected = product(shape) * BigInt(((typeof dtype === 'string' ? findDtype('name', dtype)?.bits : undefined) ?? 0) / 8);
  return BigInt(found.entry.size) === expected
    ? []
    : [
        {
          where: index.at(...item.path),
          message: `${show(dtype)} ${show(shape)} takes ${expected} bytes, ${show(path)} has ${found.entry.size}`,
          hint: 'Correct the shape or the file',
        },
      ];
}

/** Of sizes beyond what memory holds only that they are: numbers stay short. */
function product(shape: TomlValue): bigint {
  const sizes = shape as readonly bigint[];
  return sizes.includes(0n) ? 0n : sizes.reduce((all, size) => (all > 2n ** 64n ? all : all * size), 1n);
}

function judgeTexts({ index, documents: { limits }, texts: files }: RuleContext, item: Item): Breach[] {
  const { dtype, shape } = item.table;
  const path = pathOf(item, limits);
  const file = path === undefined || dtype !== 'string' ? undefined : files.get(path);
  if (file === undefined || path === undefined) return [];
  const hint = 'Correct the shape or the file';
  if (file.kind === 'malformed') return [{ where: () => file.where ?? path, message: `Cannot read ${show(path)}: ${file.reason}`, hint }];
  if (shape === undefined || !isShape(shape) || product(shape) === BigInt(file.values)) return [];
  return [
    { where: index.at(...item.path), message: `The shape ${show(shape)} takes ${product(shape)} texts, ${show(path)} has ${file.values}`, hint },
  ];
}

function findUnused(context: RuleContext): Breach[] {
  const { index, toml, info, documents } = context;
  if (index.kind !== 'read' || toml.kind !== 'read') return [];
  const items = itemsOf(index, 'tensor');
  const used = new Set<unknown>(innerNames(index).map(({ value }) => value));
  for (const { inputs, expected } of info.selfTests) for (const each of [...inputs.values(), ...(expected?.values() ?? [])]) used.add(each);
  for (const { inputs, outputs } of info.examples)
    for (const each of [...inputs.values(), ...outputs.values()]) if (each.kind === 'tensor') used.add(each.name);
  const files = new Set(items.map((item) => pathOf(item, documents.limits)));
  const hint = 'Remove it, or use it';
  return [
    ...items
      .filter(({ table: { name } }) => typeof name === 'string' && !used.has(name))
      .map(({ table, path }) => ({ where: index.at(...path), message: `Nothing uses the tensor ${show(table['name'])}`, hint })),
    ...listFiles(context)
      .filter((path) => !files.has(path))
      .map((path) => ({ where: memberPlace(path), message: `No tensor of the index uses ${show(path)}`, hint })),
  ];
}
