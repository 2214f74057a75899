import type { Capabilities, Finding, Identity, JsonObject, WeightsSummary } from '../../core/index.js';
import { isJsonObject, toParamSize } from '../../core/index.js';
import { type ConfigField, type ConfigSection, configFields, diffIdsNames, draftListSeparator } from './config-fields.js';
import { draftPrefix } from './spec.js';

/** What a config, or the draft's annotations, say in neutral words. */
export interface Described {
  readonly identity: Identity;
  readonly weights: WeightsSummary;
  readonly capabilities: Capabilities;
  readonly diffIds: readonly string[];
  /** What has no neutral place, as it stood. */
  readonly rest: JsonObject;
  readonly findings: readonly Finding[];
}

type Draft = { identity: Record<string, unknown>; weights: Record<string, unknown>; capabilities: Record<string, unknown> };

/** Config JSON → neutral words; old spellings and misplaced fields are taken and reported. Never throws. */
export function describeConfig(json: JsonObject): Described {
  const rest = structuredClone(json) as Record<string, unknown>;
  const found: Draft = { identity: {}, weights: {}, capabilities: {} };
  const findings: Finding[] = [];
  for (const field of configFields) takeField(field, rest, found, findings);
  const diffIds = takeDiffIds(rest, findings);
  for (const section of ['descriptor', 'config', 'modelfs'] as const) dropEmpty(rest, section);
  return { ...(found as Pick<Described, 'identity' | 'weights' | 'capabilities'>), diffIds, rest, findings };
}

/** Manifest annotations of the draft → neutral words. */
export function describeAnnotations(annotations: Readonly<Record<string, string>>): Described {
  const rest: Record<string, unknown> = { ...annotations };
  const found: Draft = { identity: {}, weights: {}, capabilities: {} };
  for (const { draft, neutral, type } of configFields) {
    const text = draft === undefined ? undefined : annotations[draftPrefix + draft];
    if (text === undefined || text === '') continue;
    found[neutral.view][neutral.key] = type === 'strings' ? text.split(draftListSeparator) : text;
    delete rest[draftPrefix + draft];
  }
  return { ...(found as Pick<Described, 'identity' | 'weights' | 'capabilities'>), diffIds: [], rest, findings: [] };
}

interface Place {
  readonly holder: Record<string, unknown>;
  readonly name: string;
  readonly where: string;
}

function takeField(field: ConfigField, config: Record<string, unknown>, found: Draft, findings: Finding[]): void {
  const expected = `${sectionPath(field.section)}.${field.name}`;
  for (const { holder, name, where } of listPlaces(field, config)) {
    const value = toValue(field, holder[name]);
    if (value === undefined) {
      findings.push({
        level: 'warning',
        code: 'modelpack/config-field',
        message: `Cannot use ${where}: expected ${expectedType(field.type)}`,
        where: `config blob, ${where}`,
      });
      continue;
    }
    if (where !== expected) {
      findings.push({
        level: 'warning',
        code: 'modelpack/former-name',
        message: `${where} is an earlier name of ${expected}`,
        where: `config blob, ${where}`,
        hint: `Rename it to ${expected}`,
      });
    }
    const target = found[field.neutral.view];
    if (target[field.neutral.key] !== undefined) continue;
    target[field.neutral.key] = value;
    delete holder[name];
  }
}

function sectionPath(section: ConfigSection): string {
  return section === 'capabilities' ? 'config.capabilities' : section;
}

/** Every place where the field stands, the right one first: earlier releases also had capabilities at the top level. */
function listPlaces(field: ConfigField, config: Record<string, unknown>): readonly Place[] {
  const paths = field.section === 'capabilities' ? [['config', 'capabilities'], ['capabilities']] : [[field.section]];
  return paths.flatMap((path) => {
    const holder = path.reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), config);
    if (!isJsonObject(holder)) return [];
    const names = [field.name, ...(field.former ?? [])].filter((name) => Object.hasOwn(holder, name));
    return names.map((name) => ({ holder: holder as Record<string, unknown>, name, where: [...path, name].join('.') }));
  });
}

function toValue(field: ConfigField, value: unknown): unknown {
  if (field.type === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (field.type === 'strings') return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
  if (typeof value === 'string') return value;
  // v0.0.1 had the exact count here.
  return field.name === 'paramSize' && typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? toParamSize(value) : undefined;
}

export function expectedType(type: ConfigField['type']): string {
  return { string: 'text', strings: 'a list of texts', boolean: 'true or false' }[type];
}

function takeDiffIds(config: Record<string, unknown>, findings: Finding[]): readonly string[] {
  const holder = config['modelfs'];
  if (!isJsonObject(holder)) return [];
  const [name, former] = diffIdsNames;
  const used = Object.hasOwn(holder, name) ? name : former;
  const value = holder[used];
  if (!Array.isArray(value)) return [];
  if (used === former) {
    findings.push({
      level: 'warning',
      code: 'modelpack/former-name',
      message: `modelfs.${former} is an earlier name of modelfs.${name}`,
      where: `config blob, modelfs.${former}`,
      hint: `Rename it to modelfs.${name}`,
    });
  }
  delete (holder as Record<string, unknown>)[used];
  if (holder['type'] === 'layers') delete (holder as Record<string, unknown>)['type'];
  return value.filter((each): each is string => typeof each === 'string');
}

function dropEmpty(rest: Record<string, unknown>, section: string): void {
  const holder = rest[section];
  if (!isJsonObject(holder)) return;
  for (const [key, value] of Object.entries(holder))
    if (isJsonObject(value) && Object.keys(value).length === 0) delete (holder as Record<string, unknown>)[key];
  if (Object.keys(holder).length === 0) delete rest[section];
}
