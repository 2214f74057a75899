import { describe, expect, it } from 'vitest';
import { detectLicense } from './license.js';
import { toSpdx } from './spdx.js';

describe('detectLicense', () => {
  it.each([
    ['                                 Apache License\n                           Version 2.0, January 2004\n "Licensor" shall mean', 'Apache-2.0'],
    [
      'MIT License\n\nPermission is hereby granted, free of charge, to any person\nobtaining a copy of this software … The above copyright notice and this permission notice shall be included in all',
      'MIT',
    ],
    ['Redistribution and use in source and binary forms, with or without … Redistributions in binary form must reproduce', 'BSD-2-Clause'],
    ['Redistribution and use in source and binary forms … Redistributions in binary form must reproduce … Neither the name of the', 'BSD-3-Clause'],
    ['                    GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007', 'GPL-3.0-only'],
    ['GNU GENERAL PUBLIC LICENSE\n Version 2, June 1991', 'GPL-2.0-only'],
    ['GNU LESSER GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007 … supplemented: GNU General Public License', 'LGPL-3.0-only'],
    ['GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3, 19 November 2007', 'AGPL-3.0-only'],
    ['Mozilla Public License Version 2.0\n====', 'MPL-2.0'],
    ['Attribution 4.0 International\n\n====', 'CC-BY-4.0'],
    ['Creative Commons Attribution-ShareAlike 4.0 International', 'CC-BY-SA-4.0'],
    ['Attribution-NonCommercial 4.0 International', 'CC-BY-NC-4.0'],
    ['CC0 1.0 Universal', 'CC0-1.0'],
    ['This is free and unencumbered software released into the public domain.', 'Unlicense'],
    ['LLAMA 2 COMMUNITY LICENSE AGREEMENT', 'LicenseRef-llama2'],
    ['META LLAMA 3 COMMUNITY LICENSE AGREEMENT', 'LicenseRef-llama3'],
    ['# Gemma Terms of Use', 'LicenseRef-gemma'],
    ['CreativeML Open RAIL-M', 'LicenseRef-openrail-m'],
    ['// SPDX-License-Identifier: MIT OR Apache-2.0', 'MIT OR Apache-2.0'],
    ['All rights reserved', undefined],
    ['', undefined],
  ])('%j is %s', (text, id) => {
    expect(detectLicense(text)).toBe(id);
  });
});

describe('toSpdx', () => {
  it.each([
    ['apache-2.0', 'Apache-2.0'],
    ['MIT', 'MIT'],
    ['gpl-3.0', 'GPL-3.0-only'],
    ['other', undefined],
    ['llama3.1', 'LicenseRef-llama3.1'],
    ['MIT OR Apache-2.0', 'MIT OR Apache-2.0'],
  ])('%j is %s', (tag, id) => {
    expect(toSpdx(tag)).toBe(id);
  });
});
