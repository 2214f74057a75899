/**
 * npm run docs: writes the pages that are made from the code. With --check it only says which are out of date.
 * A new page is a module with `file` and `generate`, and a line in the list.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import * as cartonDocs from './generate-carton-docs.js';
import * as cliDocs from './generate-cli-docs.js';
import * as errorCodes from './generate-error-codes.js';
import * as modelpackDocs from './generate-modelpack-docs.js';
import * as runningDocs from './generate-running-docs.js';

interface GeneratedPage {
  /** Path from the project's root. */
  readonly file: string;
  readonly generate: () => string | Promise<string>;
}

const pages: readonly GeneratedPage[] = [cartonDocs, cliDocs, errorCodes, modelpackDocs, runningDocs];

const check = process.argv.includes('--check');
for (const { file, generate } of pages) {
  const text = await generate();
  if (check && readFileSync(file, 'utf8') !== text) {
    console.error(`Cannot accept "${file}": it is out of date; run: npm run docs`);
    process.exitCode = 1;
  }
  if (!check) writeFileSync(file, text);
}
