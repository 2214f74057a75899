import { InvalidArgumentError } from '@commander-js/extra-typings';
import { collect, given, locationHelp, sourceArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { judge } from '../exit-codes.js';
import { renderTest } from '../render/test.js';
import { addSessionOptions, toSession } from '../session-options.js';

export const test: CommandModule = {
  examples: [
    ['Run the self tests that the package carries', 'modelport test digits.carton'],
    ['Of a package with Python code, with more tolerance', 'modelport test model.carton --allow-code --rtol 1e-3 --atol 1e-6'],
    ['For CI: one JSON document, exit status 1 when a test fails', 'modelport test digits.carton --json'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    addSessionOptions(command)
      .argument('<location>', locationHelp, sourceArgument)
      .option('--only <name>', 'only this self test, by name or number (repeatable)', collect)
      .option('--rtol <number>', 'relative tolerance, 1e-5 when nobody says another', toTolerance)
      .option('--atol <number>', 'absolute tolerance, 1e-8 when nobody says another', toTolerance)
      .option('--equal-nan', 'NaN is right where NaN is expected')
      .action((location, options) => {
        const { only, rtol, atol, equalNan } = options;
        const wanted = { location, ...given({ only, rtol, atol, equalNan }), ...toSession(options, cli.io) };
        return cli.run(
          options,
          (ops, context) => ops.test(wanted, context),
          renderTest,
          ({ failed }) => judge(failed === 0),
        );
      }),
};

function toTolerance(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('Expected a number that is not negative, such as 1e-5.');
}
