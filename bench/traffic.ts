import { type Counters, parseCounters } from './ours.js';
import type { Results, Step } from './rounds.js';
import { type Table, findHighest } from './section.js';

const perByte = ['read', 'hashed', 'written', 'sent', 'received'] as const;

/** What the bytes of the model went through in each of our steps, as `--verbose` counts it: the most of any round. */
export function toTraffic(steps: readonly Step[], results: Results, modelBytes: number): Table {
  const rows = steps
    .filter(({ ours }) => ours)
    .map(({ name }) => {
      const counters = (results.get(name) ?? []).map(parseCounters);
      const most = (key: keyof Counters) => findHighest(counters.map((counter) => counter?.[key]));
      return [`**${name}**`, ...perByte.map((key) => toTimes(most(key), modelBytes)), String(most('requests') ?? '-')];
    });
  return { titles: ['for each byte of the model', ...perByte, 'requests'], rows };
}

function toTimes(count: number | undefined, modelBytes: number): string {
  return count === undefined ? '-' : (count / modelBytes).toFixed(4);
}
