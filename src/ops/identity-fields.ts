import { type Capabilities, createError, type Identity, type ModelPackage, type WeightsSummary } from '../core/index.js';

type Described = Pick<ModelPackage, 'identity' | 'weights' | 'capabilities'>;

interface SettableField {
  readonly view: keyof Described;
  readonly key: string;
  readonly type: 'text' | 'list' | 'boolean';
}

const text = (view: keyof Described, keys: readonly string[]): SettableField[] => keys.map((key) => ({ view, key, type: 'text' }));
const list = (view: keyof Described, keys: readonly string[]): SettableField[] => keys.map((key) => ({ view, key, type: 'list' }));

/** What `--set` can change. */
const fields: readonly SettableField[] = [
  ...text('identity', [
    'name',
    'version',
    'title',
    'description',
    'vendor',
    'family',
    'homepage',
    'repository',
    'documentation',
    'revision',
    'createdAt',
  ] satisfies (keyof Identity)[]),
  ...list('identity', ['licenses', 'authors', 'datasets'] satisfies (keyof Identity)[]),
  ...text('weights', ['architecture', 'format', 'paramSize', 'precision', 'quantization'] satisfies (keyof WeightsSummary)[]),
  ...list('capabilities', ['inputTypes', 'outputTypes', 'languages'] satisfies (keyof Capabilities)[]),
  ...text('capabilities', ['knowledgeCutoff'] satisfies (keyof Capabilities)[]),
  ...(['reasoning', 'toolUsage', 'reward'] satisfies (keyof Capabilities)[]).map((key) => ({
    view: 'capabilities' as const,
    key,
    type: 'boolean' as const,
  })),
];

/**
 * `KEY=VALUE` as `--set` spells it: `identity.description=…`, or the bare field where its name is unique (`licenses=Apache-2.0,MIT`);
 * an empty value removes the field. Throws `ops/bad-option`.
 */
export function applySettings(described: Described, settings: readonly { readonly key: string; readonly value: string }[]): Described {
  const changed: Record<keyof Described, Record<string, unknown>> = {
    identity: { ...described.identity },
    weights: { ...described.weights },
    capabilities: { ...described.capabilities },
  };
  for (const { key, value } of settings) {
    const field = findField(key);
    if (value === '') delete changed[field.view][field.key];
    else changed[field.view][field.key] = toValue(field, key, value);
  }
  return changed;
}

function findField(key: string): SettableField {
  const field = fields.find((each) => `${each.view}.${each.key}` === key) ?? fields.find((each) => each.key === key);
  if (field !== undefined) return field;
  throw createError('ops/bad-option', {
    message: `Cannot set "${key}": there is no such field`,
    hint: `Fields: ${fields.map((each) => `${each.view}.${each.key}`).join(', ')}`,
  });
}

function toValue(field: SettableField, key: string, value: string): unknown {
  if (field.type === 'text') return value;
  if (field.type === 'list')
    return value
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
  if (value === 'true' || value === 'false') return value === 'true';
  throw createError('ops/bad-option', { message: `Cannot set "${key}" to "${value}": expected true or false` });
}
