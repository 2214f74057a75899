import type { RunnableModel } from '../../core/index.js';

interface OptionField {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'float' | 'boolean';
  readonly value: string;
}

/** Options for a `load` frame, each with its type: JSON alone would round large integers, and has neither NaN nor infinities. */
export function toOptionFields(options: RunnableModel['options']): readonly OptionField[] {
  return Object.entries(options).flatMap<OptionField>(([name, value]) => {
    switch (typeof value) {
      case 'string':
        return [{ name, type: 'text', value }];
      case 'bigint':
        return [{ name, type: 'integer', value: String(value) }];
      case 'number':
        return [{ name, type: 'float', value: String(value) }];
      case 'boolean':
        return [{ name, type: 'boolean', value: String(value) }];
      default:
        return [];
    }
  });
}
