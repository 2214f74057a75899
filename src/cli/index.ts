/**
 * cli: the command line: words in, one call into ops, lines or one JSON document out. The only room that writes to the
 * terminal. Knows no format, no store and no file of a package.
 */
export { createCli } from './cli.js';
export { type CommandEntry, type CommandGroup, commands, isGroup } from './commands.js';
export type { CliIo, OutputStream } from './io.js';
export { createProgram } from './program.js';
