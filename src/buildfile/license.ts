/** The first row whose phrases all occur decides; so the narrower licences stand before the wider ones. */
const phrases: readonly (readonly [id: string, ...phrases: string[]])[] = [
  ['AGPL-3.0-only', 'gnu affero general public license', 'version 3'],
  ['LGPL-3.0-only', 'gnu lesser general public license', 'version 3'],
  ['LGPL-2.1-only', 'gnu lesser general public license', 'version 2.1'],
  ['GPL-3.0-only', 'gnu general public license', 'version 3'],
  ['GPL-2.0-only', 'gnu general public license', 'version 2'],
  ['Apache-2.0', 'apache license', 'version 2.0', 'licensor'],
  ['Apache-2.0', 'licensed under the apache license, version 2.0'],
  ['MPL-2.0', 'mozilla public license', '2.0'],
  ['CC0-1.0', 'cc0 1.0 universal'],
  ['CC-BY-NC-SA-4.0', 'attribution-noncommercial-sharealike 4.0 international'],
  ['CC-BY-NC-ND-4.0', 'attribution-noncommercial-noderivatives 4.0 international'],
  ['CC-BY-NC-4.0', 'attribution-noncommercial 4.0 international'],
  ['CC-BY-ND-4.0', 'attribution-noderivatives 4.0 international'],
  ['CC-BY-SA-4.0', 'attribution-sharealike 4.0 international'],
  ['CC-BY-4.0', 'attribution 4.0 international'],
  ['Unlicense', 'this is free and unencumbered software released into the public domain'],
  ['LicenseRef-llama4', 'llama 4 community license agreement'],
  ['LicenseRef-llama3.3', 'llama 3.3 community license agreement'],
  ['LicenseRef-llama3.2', 'llama 3.2 community license agreement'],
  ['LicenseRef-llama3.1', 'llama 3.1 community license agreement'],
  ['LicenseRef-llama3', 'llama 3 community license agreement'],
  ['LicenseRef-llama2', 'llama 2 community license agreement'],
  ['LicenseRef-gemma', 'gemma terms of use'],
  ['LicenseRef-openrail-m', 'open rail-m'],
  ['LicenseRef-openrail-m', 'openrail-m'],
  ['LicenseRef-openrail-m', 'openrail', 'use-based restrictions'],
  ['BSD-3-Clause', 'redistribution and use in source and binary forms', 'neither the name of'],
  ['BSD-2-Clause', 'redistribution and use in source and binary forms', 'redistributions in binary form must reproduce'],
  [
    'MIT',
    'permission is hereby granted, free of charge, to any person obtaining a copy',
    'the above copyright notice and this permission notice shall be included',
  ],
  ['ISC', 'permission to use, copy, modify, and/or distribute this software for any purpose with or without fee'],
];

const mostCharacters = 200_000;

/**
 * The licence that a text is, as an SPDX id, or a `LicenseRef-` for model licences without one; undefined when it is none we know. An
 * `SPDX-License-Identifier:` line decides. Whether "or later" was meant cannot be seen in a licence text: `-only` is given.
 */
export function detectLicense(text: string): string | undefined {
  const start = text.slice(0, mostCharacters);
  const stated = /SPDX-License-Identifier:[ \t]*([A-Za-z0-9.+()-]+(?: (?:AND|OR|WITH) [A-Za-z0-9.+()-]+)*)/.exec(start)?.[1];
  if (stated !== undefined) return stated;
  const plain = start.toLowerCase().replace(/[\s*#_]+/g, ' ');
  return phrases.find(([, ...wanted]) => wanted.every((phrase) => plain.includes(phrase)))?.[0];
}
