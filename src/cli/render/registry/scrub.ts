import type { RegistryScrubResult } from '../../../ops/index.js';
import type { Style } from '../../terminal.js';
import type { Render } from '../rendered.js';
import { plural, toSize } from '../text.js';

export const renderScrub: Render<RegistryScrubResult> = (result, style) => {
  const { ok, checked, bytes, bad, missing } = result;
  const { red, green } = style.color;
  const faults = [
    ...(bad.length === 0 ? [] : [plural(bad.length, 'bad blob')]),
    ...(missing.length === 0 ? [] : [plural(missing.length, 'missing blob')]),
  ];
  return {
    out: [
      ...bad.map((blob) => `${red('bad')}     ${blob.digest} ${toWhat(blob)}; it lies in ${blob.path}`),
      ...missing.map(({ digest, neededBy }) => `${red('missing')} ${digest}, which ${neededBy} needs`),
      ...toAdvice(result, style),
      `${ok ? green('Good') : red('Not good')}: ${plural(checked, 'blob')}, ${toSize(bytes)}${faults.map((fault) => `, ${fault}`).join('')}`,
    ],
    err: [],
    quiet: [...bad, ...missing].map(({ digest }) => digest),
  };
};

function toWhat({ found, size }: RegistryScrubResult['bad'][number]): string {
  return found === null ? 'is no plain file' : `(${toSize(size)}) hashes to ${found}`;
}

/** Names that nobody can pull any more, and how they get whole. */
function toAdvice({ affected, dryRun, bad, ok }: RegistryScrubResult, { color }: Style): string[] {
  const setAside =
    dryRun && bad.length > 0 ? [`  ${color.dim('hint:')} Without --dry-run bad blobs are set aside, so that a push sends them again`] : [];
  if (affected.length === 0) return ok ? setAside : [...setAside, 'No name needs them'];
  return [
    'These names are not whole:',
    ...affected.map((name) => `  ${color.bold(name)}`),
    ...setAside,
    `  ${color.dim('hint:')} Push or copy them again; a mirror fetches what is missing by itself`,
  ];
}
