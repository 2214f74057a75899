import type { Finding, RunnableModel, Runtime, RuntimeOption } from '../core/index.js';

/** Warnings about options that a runtime does not know, or of another type than it declares; such are left out when the model is loaded. */
export function judgeOptions({ options }: Pick<RunnableModel, 'options'>, runtime: Pick<Runtime, 'id' | 'options'>): readonly Finding[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const option = findOption(runtime.options, name);
    if (option === undefined) return [unknownOption(name, runtime)];
    return fits(value, option.type) ? [] : [wrongType(name, value, option)];
  });
}

/** The options that `judgeOptions` has nothing to say about. */
export function selectOptions(options: RunnableModel['options'], declared: readonly RuntimeOption[]): RunnableModel['options'] {
  const known = Object.entries(options).filter(([name, value]) => {
    const option = findOption(declared, name);
    return option !== undefined && fits(value, option.type);
  });
  return Object.fromEntries(known);
}

function findOption(declared: readonly RuntimeOption[], name: string): RuntimeOption | undefined {
  return declared.find((option) => (option.name.endsWith('*') ? name.startsWith(option.name.slice(0, -1)) : option.name === name));
}

function fits(value: unknown, type: RuntimeOption['type']): boolean {
  const isInteger = typeof value === 'bigint';
  switch (type) {
    case 'text':
      return typeof value === 'string';
    case 'integer':
      return isInteger;
    case 'float':
      return isInteger || typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'any':
      return isInteger || ['string', 'number', 'boolean'].includes(typeof value);
  }
}

function unknownOption(name: string, { id, options }: Pick<Runtime, 'id' | 'options'>): Finding {
  const known = options.length === 0 ? 'it has none' : `it has ${options.map((option) => option.name).join(', ')}`;
  return {
    level: 'warning',
    code: 'runtime/unknown-option',
    message: `The option ${JSON.stringify(name)} is unknown to the runtime "${id}" and left out: ${known}`,
    where: name,
  };
}

function wrongType(name: string, value: unknown, { type }: RuntimeOption): Finding {
  return {
    level: 'warning',
    code: 'runtime/bad-option',
    message: `The option ${JSON.stringify(name)} is left out: expected ${type === 'any' ? 'text, a number or a boolean' : type}, found ${describe(value)}`,
    where: name,
  };
}

function describe(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `text (${JSON.stringify(value.slice(0, 40))})`;
    case 'boolean':
      return `boolean (${value})`;
    case 'bigint':
      return `integer (${value})`;
    case 'number':
      return `float (${Number.isInteger(value) ? value.toFixed(1) : value})`;
    default:
      return Array.isArray(value) ? 'a list' : 'a table';
  }
}
