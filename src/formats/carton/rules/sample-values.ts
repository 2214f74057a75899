import type { TensorSpec } from '../../../core/index.js';
import type { KeyPath } from '../../../text/index.js';
import type { CartonReference, IndexEntry } from '../carton.js';
import { parseReference } from '../references.js';
import { parseTensorIndex } from '../tensor-index.js';
import { childOf, itemsOf, type RuleContext } from './context.js';
import { name, textsIn } from './fields.js';
import { type Breach, show } from './rule.js';

/** A tensor that stands for a declared input or output in a self test or example; dtypes and shapes are those of the index, nothing is read. */
interface SampleValue {
  readonly path: KeyPath;
  readonly spec: TensorSpec;
  readonly dtypes: readonly string[];
  readonly shapes: readonly (readonly number[])[];
  readonly isNested: boolean;
}

/** Of one nested tensor; many references to a large one would take for ever. */
const mostInner = 1000;

/** dtype and fixed sizes against what is declared. */
export function judgeContracts(context: RuleContext): Breach[] {
  return listSamples(context)
    .flat()
    .flatMap((value) => {
      const { spec, path } = value;
      const reason = judgeDtype(value) ?? judgeShape(value);
      return reason === undefined
        ? []
        : [
            {
              where: context.toml.at(...path),
              message: `The tensor of ${name(path)} is not what ${show(spec.name)} is declared to be: ${reason}`,
              hint: 'Correct the declaration or the tensor',
            },
          ];
    });
}

function judgeDtype({ spec: { dtype }, dtypes }: SampleValue): string | undefined {
  const odd = dtypes.find((each) => dtype !== undefined && each !== dtype);
  return odd === undefined ? undefined : `expected ${dtype}, found ${odd}`;
}

function judgeShape({ spec: { shape }, shapes, isNested }: SampleValue): string | undefined {
  if (shape === undefined || typeof shape === 'string') return undefined;
  if (isNested && shape.some((size) => size !== null)) return `expected the shape ${showShape(shape)}, found a nested tensor`;
  const odd = shapes.find(
    (sizes) => !isNested && (sizes.length !== shape.length || shape.some((size, at) => typeof size === 'number' && size !== sizes[at])),
  );
  return odd === undefined ? undefined : `expected the shape ${showShape(shape)}, found ${showShape(odd)}`;
}

function showShape(shape: readonly (number | string | null)[]): string {
  return `[${shape.map((size) => (typeof size === 'number' ? size : show(size ?? '*'))).join(', ')}]`;
}

/** Symbols with more than one value in one self test or example. */
export function judgeSymbols(context: RuleContext): Breach[] {
  return listSamples(context).flatMap((values) => {
    const bound = new Map<string, { readonly value: string; readonly path: KeyPath }>();
    return values.flatMap(({ path, spec, shapes, isNested }) =>
      listSymbols(spec, shapes, isNested).flatMap(([symbol, value]) => {
        const first = bound.get(symbol);
        if (first === undefined) bound.set(symbol, { value, path });
        return first === undefined || first.value === value
          ? []
          : [
              {
                where: context.toml.at(...path),
                message: `The symbol ${show(symbol)} is ${first.value} in ${name(first.path)} and ${value} in ${name(path)}`,
                hint: 'Use tensors that agree, or another symbol',
              },
            ];
      }),
    );
  });
}

function listSymbols({ shape }: TensorSpec, shapes: readonly (readonly number[])[], isNested: boolean): [symbol: string, value: string][] {
  if (shape === undefined || shape === '*' || isNested) return [];
  return shapes.flatMap((sizes): [string, string][] => {
    if (typeof shape === 'string') return [[shape, `[${sizes.join(', ')}]`]];
    if (shape.length !== sizes.length) return [];
    return shape.flatMap((size, at): [string, string][] => (typeof size === 'string' ? [[size, String(sizes[at])]] : []));
  });
}

/** The tensors of each self test and each example, with what is declared of them. */
function listSamples({ toml, documents: { tensorIndex, limits }, info }: RuleContext): SampleValue[][] {
  if (tensorIndex.kind !== 'read') return [];
  const entries = new Map(parseTensorIndex(tensorIndex.value, limits).entries.map((entry) => [entry.name, entry]));
  const specs = { inputs: byName(info.inputs), expected_out: byName(info.outputs), sample_out: byName(info.outputs) };
  return ['self_test', 'example'].flatMap((section) =>
    itemsOf(toml, section).map((item) =>
      (['inputs', section === 'self_test' ? 'expected_out' : 'sample_out'] as const).flatMap((key) =>
        textsIn(childOf(item, key)).flatMap(({ path, key: tensor, value }) => {
          const spec = specs[key].get(tensor);
          const entry = findEntry(parseReference(value), entries);
          return spec === undefined || entry === undefined ? [] : [toSample(path, spec, entry, entries)];
        }),
      ),
    ),
  );
}

function byName(specs: readonly TensorSpec[]): ReadonlyMap<string, TensorSpec> {
  return new Map(specs.map((spec) => [spec.name, spec]));
}

function findEntry(reference: CartonReference | undefined, entries: ReadonlyMap<string, IndexEntry>): IndexEntry | undefined {
  return reference?.kind === 'tensor' ? entries.get(reference.name) : undefined;
}

function toSample(path: KeyPath, spec: TensorSpec, entry: IndexEntry, entries: ReadonlyMap<string, IndexEntry>): SampleValue {
  const inner = entry.kind === 'plain' ? [entry] : entry.inner.slice(0, mostInner).map((each) => entries.get(each));
  const plain = inner.filter((each) => each?.kind === 'plain');
  return { path, spec, dtypes: plain.map(({ dtype }) => dtype), shapes: plain.map(({ shape }) => shape), isNested: entry.kind === 'nested' };
}
