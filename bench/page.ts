import { readFileSync, writeFileSync } from 'node:fs';

const file = 'docs/benchmarks.md';
const begin = '<!-- bench: begin (npm run bench -- --write) -->';
const end = '<!-- bench: end -->';

/** Puts the report between the markers of docs/benchmarks.md; what a person wrote around them stays. */
export function writePage(report: string): void {
  const page = readFileSync(file, 'utf8');
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error(`Cannot write "${file}": it has no lines "${begin}" and "${end}"`);
  writeFileSync(file, `${page.slice(0, from + begin.length)}\n\n${report}\n${page.slice(to)}`);
}
