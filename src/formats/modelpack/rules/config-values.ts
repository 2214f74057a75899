import { isJsonObject, type JsonObject } from '../../../core/index.js';
import { type ConfigField, type ConfigSection, configFields, diffIdsNames } from '../config-fields.js';
import { parseTime } from '../file-metadata.js';
import { expectedType } from '../read-config.js';
import { type RuleContext, sectionOf } from './context.js';
import { type Breach, show } from './rule.js';

/** One place in the config blob. */
export function breach(field: string, message: string, hint: string): Breach {
  return { where: `config blob, ${field}`, message, hint };
}

/** A field as it stands; absent as well when what should hold it is no object. */
export function fieldOf(context: RuleContext, section: ConfigSection, name: string): unknown {
  return holderOf(context, section)?.[name];
}

export function holderOf(context: RuleContext, section: ConfigSection): JsonObject | undefined {
  const top = sectionOf(context, section === 'capabilities' ? 'config' : section);
  const holder = section === 'capabilities' && isJsonObject(top) ? top['capabilities'] : top;
  return isJsonObject(holder) ? holder : undefined;
}

/** Releases of the cnai names up to v0.0.6 wrote `diff_ids`. */
export function diffIdsOf(context: RuleContext): unknown {
  const modelfs = sectionOf(context, 'modelfs');
  if (!isJsonObject(modelfs)) return undefined;
  const [name, former] = diffIdsNames;
  return Object.hasOwn(modelfs, name) || context.vintage === 'cncf' ? modelfs[name] : modelfs[former];
}

/** The texts in a list; what else is wrong with it is for the rule on types. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}

export function expectObject(context: RuleContext, name: string): Breach[] {
  const found = sectionOf(context, name);
  return context.config.kind !== 'json' || isJsonObject(found)
    ? []
    : [breach(name, `Expected an object, found ${show(found)}`, `Add "${name}"; it may be empty unless it is modelfs`)];
}

export function expectTypes(context: RuleContext, section: ConfigSection): Breach[] {
  const path = section === 'capabilities' ? 'config.capabilities' : section;
  return configFields
    .filter((field) => field.section === section)
    .flatMap((field) => {
      const value = fieldOf(context, section, field.name);
      return value === undefined || hasType(value, field.type)
        ? []
        : [
            breach(
              `${path}.${field.name}`,
              `Expected ${expectedType(field.type)}, found ${show(value)}`,
              `Write ${expectedType(field.type)}, or leave the field out`,
            ),
          ];
    });
}

export function expectTime(context: RuleContext, section: ConfigSection, name: string): Breach[] {
  const value = fieldOf(context, section, name);
  const path = section === 'capabilities' ? `config.capabilities.${name}` : `${section}.${name}`;
  return typeof value !== 'string' || parseTime(value) !== undefined
    ? []
    : [breach(path, `Expected a date and time of RFC 3339, found ${show(value)}`, 'Write for example "2026-01-02T00:00:00Z"')];
}

function hasType(value: unknown, type: ConfigField['type']): boolean {
  return type === 'strings' ? Array.isArray(value) && value.every((each) => typeof each === 'string') : typeof value === type;
}
