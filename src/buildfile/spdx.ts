/** Ids in small letters, as model hubs write them → SPDX. */
const byHubName: Readonly<Record<string, string>> = {
  'apache-2.0': 'Apache-2.0',
  mit: 'MIT',
  'bsd-2-clause': 'BSD-2-Clause',
  'bsd-3-clause': 'BSD-3-Clause',
  'bsd-3-clause-clear': 'BSD-3-Clause-Clear',
  'bsl-1.0': 'BSL-1.0',
  'cc0-1.0': 'CC0-1.0',
  'cc-by-2.0': 'CC-BY-2.0',
  'cc-by-3.0': 'CC-BY-3.0',
  'cc-by-4.0': 'CC-BY-4.0',
  'cc-by-sa-3.0': 'CC-BY-SA-3.0',
  'cc-by-sa-4.0': 'CC-BY-SA-4.0',
  'cc-by-nc-4.0': 'CC-BY-NC-4.0',
  'cc-by-nc-sa-4.0': 'CC-BY-NC-SA-4.0',
  'cc-by-nd-4.0': 'CC-BY-ND-4.0',
  'cc-by-nc-nd-4.0': 'CC-BY-NC-ND-4.0',
  'gpl-2.0': 'GPL-2.0-only',
  'gpl-3.0': 'GPL-3.0-only',
  'lgpl-2.1': 'LGPL-2.1-only',
  'lgpl-3.0': 'LGPL-3.0-only',
  'agpl-3.0': 'AGPL-3.0-only',
  'mpl-2.0': 'MPL-2.0',
  'epl-2.0': 'EPL-2.0',
  'eupl-1.2': 'EUPL-1.2',
  'afl-3.0': 'AFL-3.0',
  'artistic-2.0': 'Artistic-2.0',
  isc: 'ISC',
  zlib: 'Zlib',
  'ms-pl': 'MS-PL',
  ncsa: 'NCSA',
  'ofl-1.1': 'OFL-1.1',
  postgresql: 'PostgreSQL',
  unlicense: 'Unlicense',
  wtfpl: 'WTFPL',
  odbl: 'ODbL-1.0',
  pddl: 'PDDL-1.0',
};

/** A hub's licence tag as an SPDX expression; one without an SPDX id becomes a `LicenseRef-`, `other` and `unknown` nothing. */
export function toSpdx(tag: string): string | undefined {
  const name = tag.trim().toLowerCase();
  if (name === '' || name === 'other' || name === 'unknown') return undefined;
  const known = byHubName[name];
  if (known !== undefined) return known;
  if (/\s(?:and|or|with)\s/i.test(tag) || /^LicenseRef-/i.test(tag)) return tag.trim();
  return `LicenseRef-${name.replace(/[^a-z0-9.-]+/g, '-')}`;
}
