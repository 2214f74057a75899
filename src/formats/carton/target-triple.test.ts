import { describe, expect, it } from 'vitest';
import { fitsHost, hostTriple, parseTargetTriple } from './target-triple.js';

describe('parseTargetTriple', () => {
  it.each([
    ['x86_64-unknown-linux-gnu', 'x86_64', 'unknown', 'linux', 'gnu'],
    ['aarch64-apple-darwin', 'aarch64', 'apple', 'darwin', 'unknown'],
    ['aarch64-apple-darwin23.1.0', 'aarch64', 'apple', 'darwin', 'unknown'],
    ['x86_64-apple-macosx10.15.0', 'x86_64', 'apple', 'macosx', 'unknown'],
    ['x86_64-pc-windows-msvc', 'x86_64', 'pc', 'windows', 'msvc'],
    ['x86_64-linux-gnu', 'x86_64', 'unknown', 'linux', 'gnu'],
    ['armv7-unknown-linux-gnueabihf', 'armv7', 'unknown', 'linux', 'gnueabihf'],
    ['wasm32-wasi', 'wasm32', 'unknown', 'wasi', 'unknown'],
    ['wasm32-unknown-unknown', 'wasm32', 'unknown', 'unknown', 'unknown'],
    ['x86_64-acme-linux-gnu-elf', 'x86_64', 'acme', 'linux', 'gnu'],
    ['x86_64', 'x86_64', 'unknown', 'unknown', 'unknown'],
  ])('takes %s', (text, architecture, vendor, system, environment) => {
    expect(parseTargetTriple(text)).toEqual({ architecture, vendor, system, environment });
  });

  it.each([
    '',
    'linux',
    'amd64',
    'not-a-triple',
    'x86_64-unknown-linux-gnu-elf-more',
    'x86_64-unknown-lynux-gnu',
    'x86_64-Apple-darwin',
    'x86_64-unknown-linux-glibc',
    'x86_64--linux',
    'linux/amd64',
  ])('refuses %j', (text) => {
    expect(parseTargetTriple(text)).toEqual({ problem: expect.stringContaining('is no ') });
  });
});

describe('hostTriple', () => {
  it.each([
    ['linux', 'x64', 'glibc', 'x86_64-unknown-linux-gnu'],
    ['linux', 'x64', 'musl', 'x86_64-unknown-linux-musl'],
    ['linux', 'arm', 'glibc', 'armv7-unknown-linux-gnueabihf'],
    ['darwin', 'arm64', 'glibc', 'aarch64-apple-darwin'],
    ['win32', 'x64', 'glibc', 'x86_64-pc-windows-msvc'],
    ['linux', 'mips', 'glibc', undefined],
    ['sunos', 'x64', 'glibc', undefined],
  ] as const)('%s %s %s is %s', (platform, arch, libc, expected) => {
    expect(hostTriple(platform, arch, libc)).toBe(expected);
  });

  it('gives triples that can be parsed', () => {
    for (const platform of ['linux', 'darwin', 'win32', 'freebsd', 'android'])
      for (const arch of ['x64', 'arm64', 'arm', 'ia32', 'riscv64', 'ppc64', 's390x', 'loong64'])
        expect(parseTargetTriple(hostTriple(platform, arch) ?? '')).not.toHaveProperty('problem');
  });
});

describe('fitsHost', () => {
  const host = 'x86_64-unknown-linux-gnu';

  it.each([[[]], [[host]], [['aarch64-apple-darwin', host]], [['x86_64-linux-gnu']], [['x86_64-unknown-linux']], [['x86_64-pc-linux-gnu']]])(
    '%j is for it',
    (triples) => {
      expect(fitsHost(triples, host)).toBe(true);
    },
  );

  it.each([[['aarch64-unknown-linux-gnu']], [['x86_64-unknown-linux-musl']], [['x86_64-apple-darwin']], [['nonsense']]])('%j is not', (triples) => {
    expect(fitsHost(triples, host)).toBe(false);
  });

  it('knows spellings of one thing', () => {
    expect(fitsHost(['arm64-apple-macosx12.0'], 'aarch64-apple-darwin')).toBe(true);
    expect(fitsHost(['i386-unknown-linux-gnu'], 'i686-unknown-linux-gnu')).toBe(true);
  });
});
