import type { ByteCounters } from '../../core/index.js';
import { plainStyle } from '../terminal.js';
import { toTable } from './table.js';
import { toDuration, toSize } from './text.js';

/** Exact bytes for scripts, sizes for people. */
export function renderCounters({ requests, ...bytes }: ByteCounters, milliseconds: number): string[] {
  const rows = Object.entries(bytes).map(([name, count]) => [`bytes ${name}`, String(count), toSize(count)]);
  const columns = [{ title: '' }, { title: '', align: 'right' }, { title: '', align: 'right' }] as const;
  return [...toTable(columns, [...rows, ['requests', String(requests), '']], plainStyle), `time  ${toDuration(milliseconds)}`];
}
