import type { OpsContext } from '../../ops/index.js';
import type { Ops } from '../cli.js';
import type { CommandModule } from '../command-module.js';
import { findCandidates } from '../completion-candidates.js';
import type { Render } from '../render/rendered.js';
import { shown } from '../render/rendered.js';

/** Called by the completion scripts at every press of Tab: `value<TAB>what it is` a line, then `:files` or `:nothing`. */
export const complete: CommandModule = {
  examples: [],
  define: (command, cli) =>
    command.argument('[words...]', 'the words after modelport').action((words, options, { parent }) => {
      const { values, wants } = parent === null ? { values: [], wants: 'nothing' as const } : findCandidates(parent, words);
      return cli.run(
        options,
        async (ops, context) => ({
          values: wants === 'files-and-names' ? [...values, ...(await listNames(ops, context, words.at(-1) ?? ''))] : values,
          wants: wants === 'nothing' ? 'nothing' : 'files',
        }),
        renderCandidates,
      );
    }),
};

const renderCandidates: Render<{ readonly values: readonly { readonly value: string; readonly about: string }[]; readonly wants: string }> = ({
  values,
  wants,
}) => shown([...values.map(({ value, about }) => `${value}\t${about}`), `:${wants}`]);

/** Names of the local store. A store that cannot be read is no reason to disturb a person who is writing. */
async function listNames(ops: Ops, context: OpsContext, start: string) {
  try {
    const { packages } = await ops.list({}, context);
    return packages.flatMap(({ name, format }) => (name?.startsWith(start) ? [{ value: name, about: format }] : []));
  } catch {
    return [];
  }
}
