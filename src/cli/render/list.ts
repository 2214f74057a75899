import type { ListResult } from '../../ops/index.js';
import type { Render } from './rendered.js';
import { type Column, toTable } from './table.js';
import { toShortDigest, toSize } from './text.js';
import { toFormat } from './totals.js';

export const renderList: Render<ListResult> = ({ packages, repositories, next }, style) => {
  const withParameters = packages.some(({ parameters }) => parameters !== undefined);
  const columns: readonly Column[] = [
    { title: 'NAME', shrinks: true, paint: style.color.bold },
    { title: 'FORMAT' },
    ...(withParameters ? [{ title: 'PARAMETERS', align: 'right' as const }] : []),
    { title: 'SIZE', align: 'right' },
    { title: 'DIGEST', paint: style.color.dim },
    // Packages carry no time unless they were given one.
    ...(packages.some(({ createdAt }) => createdAt !== null) ? [{ title: 'CREATED' }] : []),
  ];
  const rows = packages.map((row) => [
    row.name ?? '<none>',
    toFormat(row),
    ...(withParameters ? [row.parameters ?? '-'] : []),
    toSize(row.size),
    toShortDigest(row.digest),
    toDay(row.createdAt),
  ]);
  if (repositories !== undefined)
    return { out: repositories, err: repositories.length === 0 ? ['The registry tells of no repositories'] : [], quiet: repositories };
  return {
    out: toTable(columns, rows, style),
    err: [
      ...(rows.length === 0 ? ['No packages here yet; `modelport pack DIR -t NAME` makes one'] : []),
      ...(next === null ? [] : [`There are more, after ${next}`]),
    ],
    quiet: packages.map(({ name, digest }) => name ?? digest),
  };
};

/** `2026-11-21 12:31`, as it was written down (UTC). */
function toDay(createdAt: string | null): string {
  return createdAt === null ? '-' : createdAt.slice(0, 16).replace('T', ' ');
}
