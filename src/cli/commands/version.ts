import { version as modelportVersion } from '../../core/index.js';
import type { CommandModule } from '../command-module.js';
import { writeResult } from '../output.js';
import { renderVersion } from '../render/version.js';

/** Needs no verb, so it starts without loading them. */
export const version: CommandModule = {
  examples: [
    ['Print the version', 'modelport version'],
    ['For a report of a problem', 'modelport version --json'],
  ],
  define: (command, { io }) =>
    command.action((options) => {
      const result = { modelport: modelportVersion, node: process.version, platform: `${process.platform}-${process.arch}` };
      return writeResult(io, options, (text) => text, result, renderVersion);
    }),
};
