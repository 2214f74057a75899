import type { CommandModule, Example } from './command-module.js';

interface Listed {
  readonly name: string;
  /** Heading in the help. */
  readonly group: string;
  readonly summary: string;
}

export interface CommandEntry extends Listed {
  load(): Promise<CommandModule>;
}

/** A word that takes a command of its own: `modelport registry serve`. */
export interface CommandGroup extends Listed {
  readonly examples: readonly Example[];
  readonly commands: readonly (CommandEntry | CommandGroup)[];
}

export function isGroup(entry: CommandEntry | CommandGroup): entry is CommandGroup {
  return 'commands' in entry;
}

const make = 'Make and change packages:';
const look = 'Look into packages:';
const use = 'Test and run models:';
const move = 'Move packages:';
const registries = 'Registries:';
const store = 'The local store:';
const program = 'The program:';
const subcommands = 'Commands:';

const registryCommands: readonly CommandEntry[] = [
  {
    name: 'serve',
    group: subcommands,
    summary: 'Serve packages as an OCI registry',
    load: async () => (await import('./commands/registry/serve.js')).serve,
  },
  {
    name: 'warm',
    group: subcommands,
    summary: 'Fill the folder of a mirror ahead of use',
    load: async () => (await import('./commands/registry/warm.js')).warm,
  },
  {
    name: 'gc',
    group: subcommands,
    summary: 'Delete what no repository needs any more, also while it is served',
    load: async () => (await import('./commands/registry/gc.js')).gc,
  },
  {
    name: 'scrub',
    group: subcommands,
    summary: 'Hash every blob again and set bad ones aside',
    load: async () => (await import('./commands/registry/scrub.js')).scrub,
  },
];

const cartonCommands: readonly (CommandEntry | CommandGroup)[] = [
  {
    name: 'shrink',
    group: subcommands,
    summary: 'Leave out of a carton what URLs serve',
    load: async () => (await import('./commands/carton/shrink.js')).shrink,
  },
  {
    name: 'inflate',
    group: subcommands,
    summary: 'Make a carton whole again, with all that is linked',
    load: async () => (await import('./commands/carton/inflate.js')).inflate,
  },
  {
    name: 'links',
    group: subcommands,
    summary: 'Look after the links of a carton',
    examples: [['Fetch and hash what every URL serves, and keep nothing', 'modelport carton links check model.carton']],
    commands: [
      {
        name: 'check',
        group: subcommands,
        summary: 'Check that every URL serves the right bytes',
        load: async () => (await import('./commands/carton/links-check.js')).linksCheck,
      },
    ],
  },
  {
    name: 'examples',
    group: subcommands,
    summary: 'List examples and self tests, or put their data on the disk',
    load: async () => (await import('./commands/carton/examples.js')).examples,
  },
];

/** Every command, in the order of the help. A command's file is loaded only when the command is called. */
export const commands: readonly (CommandEntry | CommandGroup)[] = [
  {
    name: 'init',
    group: make,
    summary: 'Write a modelport.toml from what a folder holds',
    load: async () => (await import('./commands/init.js')).init,
  },
  { name: 'pack', group: make, summary: 'Make a package of a folder', load: async () => (await import('./commands/pack.js')).pack },
  { name: 'edit', group: make, summary: 'Make a changed copy, weights untouched', load: async () => (await import('./commands/edit.js')).edit },
  {
    name: 'convert',
    group: make,
    summary: 'Write a package in another format or vintage',
    load: async () => (await import('./commands/convert.js')).convert,
  },
  {
    name: 'inspect',
    group: look,
    summary: 'Say what a package is, from headers only',
    load: async () => (await import('./commands/inspect.js')).inspect,
  },
  { name: 'ls', group: look, summary: 'List the files of a package', load: async () => (await import('./commands/ls.js')).ls },
  { name: 'cat', group: look, summary: 'Write one file of a package to standard output', load: async () => (await import('./commands/cat.js')).cat },
  {
    name: 'validate',
    group: look,
    summary: 'Check a package against the rules of its specification',
    load: async () => (await import('./commands/validate.js')).validate,
  },
  {
    name: 'verify',
    group: look,
    summary: 'Check every byte of a package against every digest',
    load: async () => (await import('./commands/verify.js')).verify,
  },
  {
    name: 'test',
    group: use,
    summary: 'Run the self tests of a package',
    load: async () => (await import('./commands/test.js')).test,
  },
  { name: 'run', group: use, summary: 'Run a model once', load: async () => (await import('./commands/run.js')).run },
  {
    name: 'carton',
    group: use,
    summary: 'What only cartons have: links, examples',
    examples: [
      ['Leave out what a server has, and get it back', 'modelport carton shrink m.carton small.carton --link https://example.com/model.onnx'],
      ['See the examples and self tests of a package', 'modelport carton examples m.carton'],
    ],
    commands: cartonCommands,
  },
  { name: 'diff', group: look, summary: 'Show what differs between two packages', load: async () => (await import('./commands/diff.js')).diff },
  { name: 'unpack', group: move, summary: 'Put the files of a package on the disk', load: async () => (await import('./commands/unpack.js')).unpack },
  {
    name: 'push',
    group: move,
    summary: 'Send a package, or a folder as one, to a registry',
    load: async () => (await import('./commands/push.js')).push,
  },
  {
    name: 'pull',
    group: move,
    summary: 'Fetch a package from a registry',
    load: async () => (await import('./commands/pull.js')).pull,
  },
  { name: 'copy', group: move, summary: 'Copy a package from one place to another', load: async () => (await import('./commands/copy.js')).copy },
  { name: 'login', group: registries, summary: 'Log in to a registry', load: async () => (await import('./commands/login.js')).login },
  { name: 'logout', group: registries, summary: 'Forget the login of a registry', load: async () => (await import('./commands/logout.js')).logout },
  {
    name: 'registry',
    group: registries,
    summary: 'Run a registry on this machine',
    examples: [
      ['Serve the local store at localhost:5000', 'modelport registry serve'],
      ['A registry for one test run that leaves nothing behind', 'modelport registry serve --tmp --listen 127.0.0.1:0 --port-file port.txt'],
    ],
    commands: registryCommands,
  },
  {
    name: 'list',
    group: store,
    summary: 'List the packages of the store, a layout or a registry',
    load: async () => (await import('./commands/list.js')).list,
  },
  { name: 'tag', group: store, summary: 'Give a package another name', load: async () => (await import('./commands/tag.js')).tag },
  { name: 'rm', group: store, summary: 'Remove names from the store or a registry', load: async () => (await import('./commands/rm.js')).rm },
  { name: 'prune', group: store, summary: 'Delete what no name needs any more', load: async () => (await import('./commands/prune.js')).prune },
  {
    name: 'doctor',
    group: program,
    summary: 'Check that this machine has what modelport needs',
    load: async () => (await import('./commands/doctor.js')).doctor,
  },
  {
    name: 'completion',
    group: program,
    summary: 'Print the completion script of a shell',
    load: async () => (await import('./commands/completion.js')).completion,
  },
  { name: 'version', group: program, summary: 'Print the version', load: async () => (await import('./commands/version.js')).version },
];

/** Not for people: what the completion scripts ask. */
export const hiddenCommands: readonly CommandEntry[] = [
  {
    name: '__complete',
    group: program,
    summary: 'Print what may come next on a command line',
    load: async () => (await import('./commands/complete.js')).complete,
  },
];
