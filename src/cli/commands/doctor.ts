import type { CommandModule } from '../command-module.js';
import { exitCodes } from '../exit-codes.js';
import { renderDoctor } from '../render/doctor.js';

export const doctor: CommandModule = {
  examples: [['Look for what could go wrong on this machine', 'modelport doctor']],
  define: (command, cli) =>
    command.action((options) =>
      cli.run(
        options,
        (ops, context) => ops.doctor({}, context),
        renderDoctor,
        ({ ok }) => (ok ? exitCodes.ok : exitCodes.world),
      ),
    ),
};
