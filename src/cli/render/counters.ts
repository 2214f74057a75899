import type { ByteCounters } from '../../core/index.js';
import { plainStyle } from '../terminal.js';
import { toTable } from './table.js';
import { toDuration, toSize } from './text.js';

/** Exact bytes for scripts, sizes for people. */
export function renderCounters({ read, hashed, written, skipped }: ByteCounters, milliseconds: number): string[] {
  const rows = Object.entries({ read, hashed, written, skipped }).map(([name, bytes]) => [`bytes ${name}`, String(bytes), toSize(bytes)]);
  const columns = [{ title: '' }, { title: '', align: 'right' }, { title: '', align: 'right' }] as const;
  return [...toTable(columns, rows, plainStyle), `time  ${toDuration(milliseconds)}`];
}
