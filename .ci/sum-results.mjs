/**
 * Adds up what the suites of .ci/run left in a folder: NAME.status (exit status) and NAME.json (vitest's report or {passed, failed}).
 * A suite that wrote no report, ran no test, skipped one or ended badly without a failed test counts as one failure.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2];

/** A suite that was killed leaves no report, or half of one. */
function readReport(name) {
  try {
    return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
  } catch {
    return {};
  }
}

function readSuite(name) {
  const status = Number(readFileSync(join(folder, `${name}.status`), 'utf8'));
  const report = readReport(name);
  const passed = report.passed ?? report.numPassedTests ?? 0;
  const failed = (report.failed ?? report.numFailedTests ?? 0) + (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0);
  const broken = failed === 0 && (status !== 0 || passed === 0 || report.success === false);
  return { name, passed, failed: broken ? 1 : failed };
}

const suites = readdirSync(folder)
  .filter((file) => file.endsWith('.status'))
  .sort();
const outcomes = suites.map((file) => readSuite(file.slice(0, -'.status'.length)));
for (const { name, passed, failed } of outcomes) console.log(`${name.padEnd(24)} ${passed} passed, ${failed} failed`);
const total = (key) => outcomes.reduce((sum, outcome) => sum + outcome[key], 0);
console.log(`${total('passed')} passed, ${total('failed')} failed`);
process.exit(total('failed') === 0 ? 0 : 1);
