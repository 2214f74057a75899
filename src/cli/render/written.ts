import type { SamplesWritten } from '../../ops/index.js';
import { plural } from './text.js';

/** What was kept, and where. */
export function renderWritten(written: SamplesWritten | undefined): string[] {
  if (written === undefined) return [];
  const { kind, samples, path, name, files } = written;
  const what = samples.length === 1 ? `the ${kind === 'example' ? 'example' : 'self test'} "${samples[0]}"` : plural(samples.length, 'self test');
  const where = path ?? name ?? 'the store';
  return [`Recorded ${what} in ${where}${files === undefined ? '' : ` (${plural(files.length, 'file')})`}`];
}
