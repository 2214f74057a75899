import { findDtype, isJsonObject, type JsonObject, type Limits, parseJson, type Shape, type TensorSpec } from '../core/index.js';
import { type Hints, known, noHints, toText, toTexts, unreadable } from './hints.js';
import { parseToml } from '../text/index.js';

/** The carton.toml of an unpacked carton: name, description, inputs, outputs and runner. Never throws for what is in the text. */
export function parseCartonHints(text: string, file: string, limits: Limits): Hints {
  try {
    const { value } = parseToml(text, file, limits);
    const carton = isJsonObject(value) ? value : {};
    const runner = isJsonObject(carton['runner']) ? carton['runner'] : {};
    return {
      ...noHints,
      identity: known({
        name: toText(carton['model_name']),
        description: toText(carton['short_description'] ?? carton['model_description']),
        licenses: toTexts(carton['license']),
        repository: toText(carton['repository']),
        homepage: toText(carton['homepage']),
      }),
      inputs: toTensors(carton['input']),
      outputs: toTensors(carton['output']),
      run: known({ runtime: toText(runner['runner_name']), version: toText(runner['required_framework_version']) }),
    };
  } catch (cause) {
    return { ...noHints, findings: [unreadable(file, cause)] };
  }
}

/** The manifest.json of an unpacked mlarchive, both generations: name, version, description, framework. Never throws for what is in the text. */
export function parseMlarchiveHints(text: string, file: string, limits: Limits): Hints {
  try {
    const value = parseJson(Buffer.from(text), file, { bytes: limits.configBytes, depth: limits.jsonDepth });
    const manifest = isJsonObject(value) ? value : {};
    const models = Array.isArray(manifest['models']) ? manifest['models'].filter(isJsonObject) : [];
    const first = models[0] ?? {};
    return {
      ...noHints,
      identity: known({
        name: toText(manifest['name'] ?? first['name']),
        version: toText(manifest['version'] ?? first['version']),
        description: toText(first['description']),
      }),
      run: known({ runtime: toText(first['framework']) }),
    };
  } catch (cause) {
    return { ...noHints, findings: [unreadable(file, cause)] };
  }
}

function toTensors(items: unknown): readonly TensorSpec[] {
  if (!Array.isArray(items)) return [];
  return items.filter(isJsonObject).flatMap((item: JsonObject) => {
    const name = toText(item['name']);
    if (name === undefined) return [];
    const dtype = findDtype('name', toText(item['dtype']) ?? '')?.name;
    return [
      known<TensorSpec>({
        name,
        dtype,
        shape: toShape(item['shape']),
        description: toText(item['description']),
        internalName: toText(item['internal_name']),
      }),
    ];
  });
}

/** A symbol for a whole shape says no more than any shape does. */
function toShape(shape: unknown): Shape | undefined {
  if (typeof shape === 'string') return '*';
  if (!Array.isArray(shape)) return undefined;
  return shape.map((size: unknown) => (typeof size === 'number' || (typeof size === 'string' && size !== '*') ? size : null));
}
