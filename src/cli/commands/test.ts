import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { TestCaseResult } from '../../ops/index.js';
import { collect, given, locationHelp, sourceArgument, targetArgument } from '../arguments.js';
import { askYesNo, hasPerson } from '../ask.js';
import type { Ops } from '../cli.js';
import type { CommandModule } from '../command-module.js';
import { toDisplayable } from '../display.js';
import { usageError } from '../errors.js';
import { judge } from '../exit-codes.js';
import type { CliIo } from '../io.js';
import { type OutputOptions, writeLines } from '../output.js';
import { plural } from '../render/text.js';
import { renderCases, renderTest } from '../render/test.js';
import { addSessionOptions, toSession } from '../session-options.js';
import { styleFor } from '../terminal.js';

const keeping = 'What is kept of it:';

export const test: CommandModule = {
  examples: [
    ['Run the self tests that the package carries', 'modelport test digits.carton'],
    ['Of a package with Python code, with more tolerance', 'modelport test model.carton --allow-code --rtol 1e-3 --atol 1e-6'],
    ['For CI: one JSON document, exit status 1 when a test fails', 'modelport test digits.carton --json'],
    ['See what has changed, and expect that from now on', 'modelport test ./model --update'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    addSessionOptions(command)
      .argument('<location>', locationHelp, sourceArgument)
      .option('--only <name>', 'only this self test, by name or number (repeatable)', collect)
      .option('--rtol <number>', 'relative tolerance, 1e-5 when nobody says another', toTolerance)
      .option('--atol <number>', 'absolute tolerance, 1e-8 when nobody says another', toTolerance)
      .option('--equal-nan', 'NaN is right where NaN is expected')
      .addOption(new Option('--record', 'what comes out is what tests without an expectation expect from now on').helpGroup(keeping))
      .addOption(new Option('--update', 'the same for tests that fail, after the difference was shown and you said yes').helpGroup(keeping))
      .addOption(
        new Option('--to <place>', 'the new carton, a file or a name; a folder is changed itself').argParser(targetArgument).helpGroup(keeping),
      )
      .action((location, options) => {
        const { only, rtol, atol, equalNan, record, update, to } = options;
        if (update === true) assertAnswer(options.yes === true, cli.io);
        const wanted = { location, ...given({ only, rtol, atol, equalNan, record, to }), ...toSession(options, cli.io) };
        return cli.run(
          options,
          (ops, context) => ops.test({ ...wanted, ...(update === true ? { update: toConsent(options, cli.io, ops) } : {}) }, context),
          renderTest,
          ({ cases }) => judge(cases.every(({ status, kept }) => status !== 'failed' || kept === true)),
        );
      }),
};

/** Before anything runs: nothing is replaced that nobody has seen. */
function assertAnswer(yes: boolean, io: CliIo): void {
  if (yes || hasPerson(io)) return;
  throw usageError('Cannot update: nobody is there to be asked', 'Add -y to replace what failing tests expect without a question');
}

/** Yes without a question, or the differences and then one. */
function toConsent(options: OutputOptions & { readonly yes?: true | undefined }, io: CliIo, { escapeForDisplay }: Ops) {
  if (options.yes === true) return true;
  return async (failed: readonly TestCaseResult[]): Promise<boolean> => {
    await writeLines(io.stderr, renderCases(toDisplayable(failed, escapeForDisplay), styleFor(io.stderr, io.env, options.color)));
    return askYesNo(io, `Shall ${plural(failed.length, 'self test')} expect this from now on?`);
  };
}

function toTolerance(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('Expected a number that is not negative, such as 1e-5.');
}
