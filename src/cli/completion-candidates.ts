import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** What may come next. `wants` says what the shell and the store add to the list. */
export interface Candidates {
  readonly values: readonly { readonly value: string; readonly about: string }[];
  readonly wants: 'nothing' | 'files' | 'files-and-names';
}

/** `words` are those after `modelport`; the last one is being written and may be empty. `program` knows the options of all commands. */
export function findCandidates(program: CommandUnknownOpts, words: readonly string[]): Candidates {
  const isHelp = words.length > 1 && words[0] === 'help';
  const { command, rest } = findCommand(program, isHelp ? words.slice(1) : words);
  const current = rest.at(-1) ?? '';
  if (command.commands.length > 0) return { values: rest.length === 1 ? listCommands(command, current) : [], wants: 'nothing' };
  if (isHelp) return { values: [], wants: 'nothing' };
  return findOptionValue(command, rest) ?? findWord(command, rest, current);
}

/** As far as finished words name a command, and what comes after them. */
function findCommand(command: CommandUnknownOpts, words: readonly string[]): { command: CommandUnknownOpts; rest: readonly string[] } {
  const next = words.length > 1 ? command.commands.find((each) => each.name() === words[0]) : undefined;
  return next === undefined ? { command, rest: words } : findCommand(next, words.slice(1));
}

function listCommands(program: CommandUnknownOpts, start: string): Candidates['values'] {
  const visible = program.createHelp().visibleCommands(program);
  return visible.map((command) => ({ value: command.name(), about: command.description() })).filter(({ value }) => value.startsWith(start));
}

/** The value of the option just before, if it takes one. */
function findOptionValue(command: CommandUnknownOpts, words: readonly string[]): Candidates | undefined {
  const before = words.at(-2) ?? '';
  const option = takesValue(command, before);
  if (option === undefined) return undefined;
  if (option.argChoices === undefined) return { values: [], wants: wantsOf(option) };
  return { values: toValues(option.argChoices, words.at(-1) ?? ''), wants: 'nothing' };
}

/** What is in pointed brackets says what a value is. Hosts, users and numbers are known to nobody here. */
function wantsOf({ long, flags }: { readonly long?: string | undefined; readonly flags: string }): Candidates['wants'] {
  if (long === '--tag') return 'files-and-names';
  return /<(host|host:port|name|word|n|glob|url|duration|bytes)>/.test(flags) ? 'nothing' : 'files';
}

function takesValue(command: CommandUnknownOpts, word: string | undefined) {
  return command.options.find(({ long, short, required }) => required && (word === long || word === short));
}

function findWord(command: CommandUnknownOpts, words: readonly string[], current: string): Candidates {
  if (current.startsWith('-')) {
    const visible = command.createHelp().visibleOptions(command);
    return {
      values: visible.map(({ long, description }) => ({ value: long ?? '', about: description })).filter(({ value }) => value.startsWith(current)),
      wants: 'nothing',
    };
  }
  const position = words.slice(0, -1).filter((word, at) => !word.startsWith('-') && !takesValue(command, words[at - 1])).length;
  const declared = command.registeredArguments;
  const argument = declared[position] ?? (declared.at(-1)?.variadic === true ? declared.at(-1) : undefined);
  if (argument?.argChoices !== undefined) return { values: toValues(argument.argChoices, current), wants: 'nothing' };
  return { values: [], wants: declared.length === 0 || argument?.name() === 'host' ? 'nothing' : 'files-and-names' };
}

function toValues(choices: readonly string[], start: string): Candidates['values'] {
  return choices.filter((choice) => choice.startsWith(start)).map((value) => ({ value, about: '' }));
}
