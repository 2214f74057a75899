import { describe, expect, it } from 'vitest';
import { plainStyle } from '../terminal.js';
import { renderConvert } from './convert.js';
import { renderCopy } from './copy.js';
import { renderDiff } from './diff.js';
import { renderDoctor } from './doctor.js';
import { renderEdit } from './edit.js';
import { renderInit } from './init.js';
import { renderList } from './list.js';
import { renderLogin, renderLogout } from './login.js';
import { renderLongList, renderPaths } from './ls.js';
import { renderPack } from './pack.js';
import { renderPrune } from './prune.js';
import { renderPull } from './pull.js';
import { renderPush } from './push.js';
import type { Render } from './rendered.js';
import { renderRemoteRm, renderRm } from './rm.js';
import { renderTag } from './tag.js';
import { renderUnpack } from './unpack.js';
import { renderValidate } from './validate.js';
import { renderVerify } from './verify.js';

const a = `sha256:${'a'.repeat(64)}` as const;
const b = `sha256:${'b'.repeat(64)}` as const;
const bytes = { total: 20_400, sent: 800, skipped: 19_600 };
const warning = { level: 'warning', code: 'modelpack/no-place', rule: 'MP-1', message: 'No place for x' } as const;
const error = { level: 'error', code: 'modelpack/size', message: 'A size is wrong' } as const;
const moved = { digest: a, name: 'demo/x:v1', path: null, bytes, lost: [], copied: [{ name: 'demo/x:v1', digest: a }] };

function render<R>(renderer: Render<R>, result: R) {
  return renderer(result, plainStyle);
}

describe('pack', () => {
  const part = { role: 'weights', path: 'm', size: 1, digest: a } as const;
  it('says what was made, where it is, and what was decided', () => {
    const result = {
      format: 'modelpack',
      vintage: 'cncf',
      digest: a,
      name: 'demo/x:v1',
      path: null,
      bytes,
      lost: [],
      findings: [warning],
      parts: [part],
      hybrid: { name: 'demo/x:v1-image', digest: b },
    };
    expect(render(renderPack, result)).toEqual({
      out: [
        'Packed 1 file as modelpack cncf to demo/x:v1',
        `  digest  ${a}`,
        '  bytes   20.4 kB, 800 B new, 19.6 kB there already',
        `  image   demo/x:v1-image ${b}`,
      ],
      err: ['warning MP-1: No place for x'],
      quiet: [a],
    });
  });
});

describe('copy', () => {
  it('of one package', () => {
    expect(render(renderCopy, { ...moved, path: 'x.tar', bytes: { total: 10, sent: 0, skipped: 10 } }).out).toEqual([
      'Copied to x.tar as demo/x:v1',
      `  digest  ${a}`,
      '  bytes   10 B, all of it there already',
    ]);
  });

  it('of several names each', () => {
    const copied = [
      { name: 'v1', digest: a },
      { name: null, digest: b },
    ];
    const shown = render(renderCopy, { ...moved, name: null, path: './mirror', copied, bytes: { total: 10, sent: 10, skipped: 0 } });
    expect(shown.out).toEqual(['Copied 2 packages to ./mirror', `  v1      ${a}`, `  <none>  ${b}`, '  bytes  10 B']);
    expect(shown.quiet).toEqual([a, b]);
  });

  it('to a registry, with what is attached', () => {
    const copied = [
      { name: 'h:1/x:v1', digest: a },
      { name: 'h:1/x:v2', digest: b },
    ];
    const referrers = [{ digest: b, artifactType: null }];
    const whole = { total: 10, sent: 10, skipped: 0 };
    expect(render(renderCopy, { ...moved, repository: 'h:1/x', copied, referrers, bytes: whole }).out).toEqual([
      'Copied 2 packages to h:1/x',
      `  h:1/x:v1  ${a}`,
      `  h:1/x:v2  ${b}`,
      '  bytes     10 B',
      '  attached  1 referrer',
    ]);
  });
});

describe('push and pull', () => {
  const pushed = { host: 'h:1', repository: 'x', tag: 'v1' };
  const sent = { ...moved, name: 'h:1/x:v1', referrers: [], pushed };
  it('say what went where', () => {
    const part = { role: 'weights', path: 'm', size: 1, digest: null } as const;
    expect(render(renderPush, { ...sent, parts: [part], findings: [warning], hybrid: { name: 'h:1/x:v1-image', digest: b } })).toEqual({
      out: [
        'Pushed 1 file to h:1/x:v1',
        `  digest    ${a}`,
        '  bytes     20.4 kB, 800 B new, 19.6 kB there already',
        `  image     h:1/x:v1-image ${b}`,
        '  attached  0 referrers',
      ],
      err: ['warning MP-1: No place for x'],
      quiet: [a],
    });
    expect(render(renderPush, sent).out[0]).toBe('Pushed to h:1/x:v1');
  });

  it('say what came, and where it is', () => {
    const kept = { ...moved, name: 'h:1/x:v1', findings: [] };
    expect(render(renderPull, kept)).toMatchObject({ out: ['Pulled h:1/x:v1 to the store', `  digest  ${a}`, expect.any(String)], quiet: [a] });
    expect(render(renderPull, { ...kept, name: null }).out[0]).toBe(`Pulled ${a} to the store`);
    expect(render(renderPull, { ...kept, path: './d', files: 2, findings: [warning] })).toMatchObject({
      out: ['Pulled 2 files to ./d', expect.any(String), expect.any(String)],
      err: ['warning MP-1: No place for x'],
      quiet: ['./d'],
    });
  });
});

describe('login and logout', () => {
  const login = { host: 'h:1', username: 'ci', where: 'config.json', encrypted: true, asked: true };
  it('say where the login is, and what may be amiss with it', () => {
    expect(render(renderLogin, login)).toEqual({ out: ['Logged in to h:1 as ci; kept in config.json'], err: [], quiet: [] });
    expect(render(renderLogin, { ...login, encrypted: false, asked: false }).err).toEqual([
      expect.stringContaining('was not tried'),
      expect.stringContaining('credential helper'),
    ]);
    expect(render(renderLogout, { host: 'h:1', removed: true }).out).toEqual(['Logged out of h:1']);
    expect(render(renderLogout, { host: 'h:1', removed: false }).out).toEqual(['There was no login for h:1']);
  });
});

describe('convert', () => {
  const result = { ...moved, format: 'modelpack', vintage: 'draft-2024', lost: [warning], dryRun: false, findings: [] };
  it('states the losses', () => {
    expect(render(renderConvert, result)).toEqual({
      out: [
        'Wrote modelpack draft-2024 to demo/x:v1',
        `  digest  ${a}`,
        '  bytes   20.4 kB, 800 B new, 19.6 kB there already',
        '  lost    1 warning',
      ],
      err: [],
      quiet: [a],
    });
  });

  it('claims nothing in a dry run', () => {
    expect(render(renderConvert, { ...result, lost: [], dryRun: true, findings: [] })).toEqual({
      out: ['Would write modelpack draft-2024', '  lost  nothing'],
      err: [],
      quiet: [],
    });
  });
});

describe('edit', () => {
  it('prints both digests', () => {
    expect(render(renderEdit, { ...moved, from: b, changed: ['identity.licenses', 'NOTICE'], findings: [] }).out).toEqual([
      'Wrote demo/x:v1',
      `  was      ${b}`,
      `  is       ${a}`,
      '  changed  identity.licenses, NOTICE',
      '  bytes    20.4 kB, 800 B new, 19.6 kB there already',
    ]);
  });
});

describe('ls', () => {
  const files = [
    { path: 'model.safetensors', role: 'weights', size: 19_600, digest: a, mode: '0644' },
    { path: 'a b.txt', role: 'doc', size: 1, digest: null, mode: null },
  ] as const;
  it('prints one path a line', () => {
    expect(render(renderPaths, { files, findings: [] }).out).toEqual(['model.safetensors', 'a b.txt']);
  });

  it('prints more when asked', () => {
    expect(render(renderLongList, { files, findings: [] }).out).toEqual([
      'MODE  ROLE        SIZE  DIGEST        PATH',
      '0644  weights  19.6 kB  aaaaaaaaaaaa  model.safetensors',
      '-     doc          1 B  -             a b.txt',
    ]);
  });
});

describe('validate', () => {
  const result = { format: 'modelpack', vintage: 'cncf', valid: true, findings: [] };
  it('ends with the verdict', () => {
    expect(render(renderValidate, result).out).toEqual(['Valid: modelpack cncf']);
    expect(render(renderValidate, { ...result, valid: false, findings: [warning, error] }).out).toEqual([
      'error modelpack/size: A size is wrong',
      'warning MP-1: No place for x',
      'Not valid: modelpack cncf, 1 error, 1 warning',
    ]);
    expect(render(renderValidate, { ...result, valid: false, findings: [warning] }).out.at(-1)).toBe(
      'Not valid (--strict): modelpack cncf, 1 warning',
    );
  });
});

describe('verify', () => {
  it('says how much was checked', () => {
    const result = { ok: true, checked: { files: 4, bytes: 20_400 }, problems: [], signatures: [] };
    expect(render(renderVerify, result).out).toEqual(['Verified: 4 files, 20.4 kB']);
    expect(render(renderVerify, { ...result, ok: false, problems: [error] }).out).toEqual([
      'error modelpack/size: A size is wrong',
      'Not verified: 4 files, 20.4 kB, 1 problem',
    ]);
  });
});

describe('diff', () => {
  it('shows A with - and B with +', () => {
    const result = {
      equal: false,
      metadata: [
        { field: 'identity.version', a: '1', b: '2' },
        { field: 'identity.licenses', a: null, b: ['MIT'] },
      ],
      files: { added: ['n'], removed: ['o'], changed: ['c'], renamed: [{ from: 'x', to: 'y' }] },
      tensors: { added: [], removed: ['t'], changed: [{ name: 'w', a: 'float32 [2]', b: 'float16 [2]' }] },
    };
    expect(render(renderDiff, result).out).toEqual([
      'Metadata',
      '  - identity.version: 1',
      '  + identity.version: 2',
      '  + identity.licenses: ["MIT"]',
      'Files',
      '  - o',
      '  + n',
      '  ~ c',
      '  > x → y',
      'Tensors',
      '  - t',
      '  ~ w: float32 [2] → float16 [2]',
    ]);
  });

  it('says so when there is nothing', () => {
    const nothing = { added: [], removed: [], changed: [] };
    expect(render(renderDiff, { equal: true, metadata: [], files: { ...nothing, renamed: [] }, tensors: nothing }).out).toEqual(['Equal']);
  });
});

describe('list', () => {
  it('shows names, and how to get the first one', () => {
    const packages = [
      { name: 'demo/x:v1', digest: a, format: 'modelpack', vintage: 'cncf', size: 20_400, createdAt: '2026-01-02T03:04:05Z' },
      { name: null, digest: b, format: 'image', size: 1, createdAt: null },
    ];
    expect(render(renderList, { packages, next: null })).toEqual({
      out: [
        'NAME       FORMAT             SIZE  DIGEST        CREATED',
        'demo/x:v1  modelpack cncf  20.4 kB  aaaaaaaaaaaa  2026-01-02 03:04',
        '<none>     image               1 B  bbbbbbbbbbbb  -',
      ],
      err: [],
      quiet: ['demo/x:v1', b],
    });
    expect(render(renderList, { packages: packages.map((row) => ({ ...row, parameters: '1.5B', createdAt: null })), next: null }).out[0]).toBe(
      'NAME       FORMAT          PARAMETERS     SIZE  DIGEST',
    );
    expect(render(renderList, { packages: [], repositories: ['a', 'b/c'], next: null })).toEqual({ out: ['a', 'b/c'], err: [], quiet: ['a', 'b/c'] });
    expect(render(renderList, { packages: [], next: null })).toMatchObject({ out: [], err: [expect.stringContaining('modelport pack')] });
  });
});

describe('the store', () => {
  it('tag says what the name was', () => {
    expect(render(renderTag, { name: 'demo/x:v2', digest: a, replaced: b })).toEqual({
      out: [`Tagged demo/x:v2 ${a}`],
      err: [`It was ${b} before`],
      quiet: [a],
    });
    expect(render(renderTag, { name: 'demo/x:v2', digest: a, replaced: a }).err).toEqual([]);
  });

  it('rm says what went', () => {
    expect(render(renderRm, { removed: [{ name: 'demo/x:v1', descriptor: { mediaType: 'm', digest: a, size: 1 } }] }).out).toEqual([
      `Removed demo/x:v1 ${a}`,
    ]);
    expect(render(renderRm, { removed: [] }).err).toEqual([expect.stringContaining('prune')]);
    expect(render(renderRemoteRm, { removed: [] }).err).toEqual([]);
  });

  it('prune counts', () => {
    const result = { dryRun: false, removed: [{ digest: a, size: 1500 }], freedBytes: 1500, kept: 3 };
    expect(render(renderPrune, result).out).toEqual(['Deleted 1 blob, 1.5 kB; 3 blobs kept']);
    expect(render(renderPrune, { ...result, dryRun: true }).out).toEqual([`${a}  1.5 kB`, 'Would delete 1 blob, 1.5 kB; 3 blobs kept']);
  });
});

describe('unpack, init, doctor', () => {
  it('say what was written', () => {
    expect(render(renderUnpack, { path: './d', files: 2, bytes: 1500, digest: a, findings: [warning] })).toEqual({
      out: ['Unpacked 2 files (1.5 kB) to ./d'],
      err: ['warning MP-1: No place for x'],
      quiet: ['./d'],
    });
    expect(render(renderInit, { path: 'modelport.toml', text: '', findings: [] }).out).toEqual(['Wrote modelport.toml']);
    expect(render(renderInit, { path: null, text: 'x', findings: [] }).out).toEqual([]);
  });

  it('say what is amiss', () => {
    const checks = [
      { name: 'node', status: 'ok', message: 'v24' },
      { name: 'store', status: 'warning', message: 'nearly full', hint: 'modelport prune' },
    ] as const;
    expect(render(renderDoctor, { ok: true, checks }).out).toEqual([
      'ok       node   v24',
      'warning  store  nearly full',
      '                hint: modelport prune',
      'All is well',
    ]);
  });
});
