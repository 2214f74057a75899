/**
 * Holds the rules of .dependency-cruiser.mjs. A cruise that read fewer modules than src holds proves nothing and fails:
 * that happens silently when the compiler under the name `typescript` is one that dependency-cruiser cannot use.
 */
import { cruise, format } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import config from '../.dependency-cruiser.mjs';
import { listFiles } from './setup.mjs';

const { options, ...ruleSet } = config;
const { output } = await cruise(['src'], { ...options, ruleSet, validate: true }, undefined, {
  tsConfig: extractTSConfig(options.tsConfig.fileName),
});
const cruised = new Set(output.modules.map(({ source }) => source));
const missed = listFiles('src').filter((file) => file.endsWith('.ts') && !cruised.has(file));
const report = await format(output, { outputType: 'err-long' });

console.log(report.output.trim());
for (const file of missed) console.error(`Cannot judge "${file}": the cruise did not read it`);
process.exit(missed.length > 0 || output.summary.error > 0 ? 1 : 0);
