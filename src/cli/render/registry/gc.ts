import type { RegistryGcResult } from '../../../ops/index.js';
import { renderPrune } from '../prune.js';
import type { Render } from '../rendered.js';
import { toTable } from '../table.js';
import { plural } from '../text.js';

export const renderGc: Render<RegistryGcResult> = (result, style) => {
  const { dryRun, untagged, uploads } = result;
  const pruned = renderPrune(result, style);
  const rest = [
    ...(untagged.length === 0 ? [] : [plural(untagged.length, 'package without a tag', 'packages without a tag')]),
    ...(uploads === 0 ? [] : [plural(uploads, 'upload that stopped', 'uploads that stopped')]),
  ];
  return {
    out: [
      ...toTable(
        [{ title: '' }, { title: '' }],
        untagged.map(({ repository, digest }) => [repository, digest]),
        style,
      ),
      ...pruned.out,
      ...(rest.length === 0 ? [] : [`${dryRun ? 'Would go, too' : 'Gone, too'}: ${rest.join(', ')}`]),
    ],
    err: [],
    quiet: pruned.quiet,
  };
};
