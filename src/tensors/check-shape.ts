import type { Shape } from '../core/index.js';
import { quote } from './bad-array.js';

/** What the symbols of one call stand for so far: a number for an extent, a list for a whole shape. `checkTensors` fills it. */
export type ShapeBindings = Map<string, number | readonly number[]>;

/** What is wrong with a shape, one sentence each. New symbols are bound; `*` and null stand for something else every time. */
export function checkShape(found: readonly number[], declared: Shape, bindings: ShapeBindings): string[] {
  if (declared === '*') return [];
  if (typeof declared === 'string') return bind(declared, found, 'the shape', bindings);
  if (declared.length !== found.length) return [`the number of dimensions is ${found.length} and not ${declared.length}`];
  return declared.flatMap((extent, axis) => checkExtent(found[axis] ?? 0, extent, `dimension ${axis}`, bindings));
}

function checkExtent(found: number, declared: number | string | null, what: string, bindings: ShapeBindings): string[] {
  if (declared === null || declared === '*') return [];
  if (typeof declared === 'string') return bind(declared, found, what, bindings);
  return found === declared ? [] : [`${what} is ${found} and not ${declared}`];
}

function bind(symbol: string, found: number | readonly number[], what: string, bindings: ShapeBindings): string[] {
  const bound = bindings.get(symbol);
  if (bound === undefined) {
    bindings.set(symbol, found);
    return [];
  }
  return show(bound) === show(found) ? [] : [`${what} is ${show(found)} and ${quote(symbol)} is ${show(bound)} already`];
}

function show(value: number | readonly number[]): string {
  return typeof value === 'number' ? String(value) : `[${value.join(', ')}]`;
}
