import type { CartonLinksResult } from '../../../ops/index.js';
import type { Render } from '../rendered.js';
import { toTable } from '../table.js';
import { plural, toSize } from '../text.js';

export const renderLinks: Render<CartonLinksResult> = ({ ok, links }, style) => {
  const good = links.filter((link) => link.ok).length;
  const rows = links.map(({ ok: isGood, path, url, bytes, encoding, reason }) => [
    isGood ? style.color.green('ok') : style.color.red('bad'),
    path,
    reason ?? `${bytes === null ? '' : toSize(bytes)}${encoding === undefined || encoding === 'identity' ? '' : `, ${encoding}`}`,
    url,
  ]);
  const verdict = ok ? style.color.green('Every linked file can be had') : style.color.red('Not every linked file can be had');
  const columns = [{ title: '' }, { title: 'FILE' }, { title: 'FOUND' }, { title: 'URL', shrinks: true }];
  const out =
    links.length === 0 ? ['Nothing is linked'] : [...toTable(columns, rows, style), `${verdict}: ${good} of ${plural(links.length, 'URL')}`];
  return { out, err: [], quiet: links.filter((link) => !link.ok).map(({ url }) => url) };
};
