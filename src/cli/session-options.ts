import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { collect, given } from './arguments.js';
import { askYesNo } from './ask.js';
import type { BaseCommand } from './base-command.js';
import type { CliIo } from './io.js';

const running = 'How the model is run:';

/** What `run` and `test` have in common: everything about starting a model. */
export function addSessionOptions(command: BaseCommand) {
  return command
    .addOption(new Option('--allow-code', 'code from the package may run (also -y)').helpGroup(running))
    .addOption(new Option('-y, --yes', 'answer questions with yes').helpGroup(running))
    .addOption(new Option('--runner <name>', 'noop, python, torchscript or onnx, instead of what the package says').helpGroup(running))
    .addOption(new Option('--framework-version <requirement>', 'instead of what the package says, such as ">=1.14, <2"').helpGroup(running))
    .addOption(new Option('--opt <name=value>', 'option of the runner, as TOML writes values (repeatable)').argParser(collect).helpGroup(running))
    .addOption(new Option('--device <device>', 'cpu, the index of a GPU, or its UUID').default('cpu').helpGroup(running))
    .addOption(new Option('--timeout <seconds>', 'for loading, and for each inference').argParser(toSeconds).helpGroup(running))
    .addOption(new Option('--any-platform', 'although the package is not made for this machine').helpGroup(running))
    .addOption(new Option('--in-process', 'ONNX models in this process: they start sooner and cannot be interrupted').helpGroup(running));
}

type SessionCommand = ReturnType<typeof addSessionOptions>;

/** The options as the verbs take them. At a terminal a person is asked for what was not allowed. */
export function toSession(options: ReturnType<SessionCommand['opts']>, io: CliIo) {
  const { allowCode, yes, runner, frameworkVersion, opt, device, timeout, anyPlatform, inProcess } = options;
  const consent = allowCode === true || yes === true ? true : (question: string) => askYesNo(io, question);
  return { allowCode: consent, device, ...given({ runner, frameworkVersion, opts: opt, timeout, anyPlatform, inProcess }) };
}

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds > 0 && seconds <= 2_000_000) return seconds;
  throw new InvalidArgumentError('Expected a number of seconds above 0.');
}
