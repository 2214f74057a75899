import { findDtype, isJsonObject, type Limits, parseJson, type TensorSpec } from '../core/index.js';
import { type Hints, known, noHints, toText, unreadable } from './hints.js';
import { parseInstant } from './instant.js';
import { parseYaml } from './yaml.js';

/** MLflow's column types that are not spelled like a dtype. */
const columnTypes: Readonly<Record<string, string>> = { double: 'float64', float: 'float32', long: 'int64', integer: 'int32', boolean: 'bool' };

/**
 * MLflow's MLmodel (YAML): when it was made, and inputs and outputs from the signature, whose two halves are JSON texts. Never throws for
 * what is in the text.
 */
export async function parseMlmodel(text: string, file: string, limits: Limits): Promise<Hints> {
  try {
    const { value } = await parseYaml(text, file, limits);
    const model = isJsonObject(value) ? value : {};
    const signature = isJsonObject(model['signature']) ? model['signature'] : {};
    const readSide = (side: 'inputs' | 'outputs'): readonly TensorSpec[] => toTensors(signature[side], `${file} signature.${side}`, limits);
    const flavors = isJsonObject(model['flavors']) ? Object.keys(model['flavors']) : [];
    return {
      ...noHints,
      identity: known({ createdAt: toCreated(model['utc_time_created']) }),
      weights: known({ format: flavors.find((flavor) => flavor !== 'python_function') }),
      inputs: readSide('inputs'),
      outputs: readSide('outputs'),
    };
  } catch (cause) {
    return { ...noHints, findings: [unreadable(file, cause)] };
  }
}

/** MLflow writes UTC without saying so: `2026-01-31 12:00:00.123456`. */
function toCreated(value: unknown): string | undefined {
  const text = toText(value);
  return text === undefined ? undefined : parseInstant(/(?:Z|[+-]\d{2}:\d{2})$/i.test(text) ? text : `${text}Z`);
}

/** Unnamed tensors are named like the only one that a person would call so. */
function toTensors(side: unknown, where: string, limits: Limits): readonly TensorSpec[] {
  if (typeof side !== 'string') return [];
  const items = parseJson(Buffer.from(side), where, { bytes: limits.personFileBytes, depth: limits.jsonDepth });
  if (!Array.isArray(items)) return [];
  const fallback = where.endsWith('inputs') ? 'input' : 'output';
  return items.filter(isJsonObject).map((item, index) => {
    const spec = isJsonObject(item['tensor-spec']) ? item['tensor-spec'] : undefined;
    const type = toText(spec?.['dtype'] ?? item['type']) ?? '';
    return known<TensorSpec>({
      name: toText(item['name']) ?? (items.length === 1 ? fallback : `${fallback}_${index}`),
      dtype: findDtype('name', columnTypes[type] ?? (type === 'str' ? 'string' : type))?.name,
      shape: spec === undefined ? undefined : toShape(spec['shape']),
    });
  });
}

function toShape(shape: unknown): (number | null)[] | undefined {
  if (!Array.isArray(shape) || !shape.every((size) => Number.isSafeInteger(size))) return undefined;
  return shape.map((size: number) => (size < 0 ? null : size));
}
