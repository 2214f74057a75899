/** `architecture-vendor-system-environment`, as the parts that tell platforms apart. What a triple leaves out is `unknown`. */
export interface TargetTriple {
  readonly architecture: string;
  readonly vendor: string;
  readonly system: string;
  readonly environment: string;
}

const architectures = new Set(
  (
    'unknown aarch64 aarch64_be amdgcn arm arm64 arm64_32 armeb armv4 armv4t armv5t armv5te armv5tej armv6 armv6j armv6k armv6m armv6z armv6kz armv6t2 armv7 armv7a ' +
    'armv7k armv7ve armv7m armv7r armv7s armv8 armv8a armv8.1a armv8.2a armv8.3a armv8.4a armv8.5a armv8m.base armv8m.main armv8r armebv7r thumb thumbv4t thumbv5te ' +
    'thumbv6m thumbv7a thumbv7em thumbv7m thumbv7neon thumbv8m.base thumbv8m.main asmjs avr bpfeb bpfel hexagon i386 i486 i586 i686 loongarch64 m68k mips mipsel ' +
    'mipsisa32r6 mipsisa32r6el mips64 mips64el mipsisa64r6 mipsisa64r6el msp430 nvptx64 powerpc powerpc64 powerpc64le riscv32 riscv32gc riscv32i riscv32im riscv32imac ' +
    'riscv32imc riscv64 riscv64gc riscv64imac s390x sparc sparc64 sparcv9 wasm32 wasm64 x86_64 x86_64h xtensa'
  ).split(' '),
);
const systems = new Set(
  (
    'unknown aix amdhsa bitrig cloudabi cuda darwin dragonfly emscripten espidf freebsd fuchsia haiku hermit horizon illumos ios l4re linux macosx nebulet netbsd none ' +
    'openbsd psp redox solaris solid_asp3 tvos uefi visionos vxworks wasi wasip1 wasip2 watchos windows xros'
  ).split(' '),
);
const environments = new Set(
  (
    'unknown amdgiz android androideabi eabi eabihf gnu gnuabi64 gnueabi gnueabihf gnuspe gnux32 gnu_ilp32 gnullvm kernel macabi musl musleabi musleabihf muslabi64 ' +
    'msvc newlib ohos sgx sim softfloat spe threads uclibc uclibceabi uclibceabihf'
  ).split(' '),
);
const binaryFormats = new Set(['unknown', 'coff', 'elf', 'macho', 'wasm', 'xcoff']);
const version = /\d+(\.\d+){0,2}$/;

/** A triple as Rust's target_lexicon takes the usual ones: only the architecture is demanded, the order of what follows is fixed. */
export function parseTargetTriple(text: string): TargetTriple | { readonly problem: string } {
  const [architecture = '', ...parts] = text.split('-', 8);
  if (!architectures.has(architecture)) return { problem: `${JSON.stringify(architecture.slice(0, 60))} is no architecture` };
  const take = (fits: (part: string) => boolean) => (parts[0] !== undefined && fits(parts[0]) ? (parts.shift() ?? 'unknown') : 'unknown');
  const vendor = take(isVendor);
  const system = take(isSystem).replace(/^(darwin|macosx|ios)[\d.]+$/, '$1');
  const environment = take((part) => environments.has(part));
  take((part) => binaryFormats.has(part));
  if (parts.length > 0) return { problem: `${JSON.stringify(parts.join('-').slice(0, 60))} is no operating system, environment or binary format` };
  return { architecture, vendor, system, environment };
}

/** Any word in small letters that is nothing else. */
function isVendor(part: string): boolean {
  const isElse = architectures.has(part) || isSystem(part) || environments.has(part) || binaryFormats.has(part);
  return part === 'unknown' || (!isElse && /^[a-z][a-z0-9_.]*$/.test(part));
}

function isSystem(part: string): boolean {
  return systems.has(part) || (/^(darwin|macosx|ios)\d/.test(part) && version.test(part));
}

const byNodeArchitecture: Readonly<Record<string, string>> = {
  arm: 'armv7',
  arm64: 'aarch64',
  ia32: 'i686',
  loong64: 'loongarch64',
  ppc64: 'powerpc64le',
  riscv64: 'riscv64gc',
  s390x: 's390x',
  x64: 'x86_64',
};

/** The triple of a machine from `process.platform`, `process.arch` and its C library; undefined for one that has none in the list. */
export function hostTriple(platform: string, arch: string, libc: 'glibc' | 'musl' = 'glibc'): string | undefined {
  const architecture = byNodeArchitecture[arch];
  if (architecture === undefined) return undefined;
  const suffix = arch === 'arm' ? 'eabihf' : '';
  if (platform === 'linux') return `${architecture}-unknown-linux-${libc === 'musl' ? 'musl' : 'gnu'}${suffix}`;
  if (platform === 'android') return `${architecture}-linux-android${arch === 'arm' ? 'eabi' : ''}`;
  if (platform === 'darwin') return `${architecture}-apple-darwin`;
  if (platform === 'win32') return `${architecture}-pc-windows-msvc`;
  return platform === 'freebsd' ? `${architecture}-unknown-freebsd` : undefined;
}

/**
 * Whether a model for these platforms is for this host; an empty list is for all. Vendors do not count, other spellings of one architecture or
 * system are one, and a part that the triple leaves unknown takes anything. A malformed triple is for nobody. (carton.toml, required_platforms)
 */
export function fitsHost(triples: readonly string[], host: string): boolean {
  const wanted = parseTargetTriple(host);
  return triples.length === 0 || triples.some((triple) => triple === host || isFor(parseTargetTriple(triple), wanted));
}

function isFor(triple: ReturnType<typeof parseTargetTriple>, host: ReturnType<typeof parseTargetTriple>): boolean {
  if ('problem' in triple || 'problem' in host) return false;
  const isSame = (part: 'architecture' | 'environment' | 'system') => triple[part] === 'unknown' || fold(triple[part]) === fold(host[part]);
  return isSame('architecture') && isSame('system') && isSame('environment');
}

function fold(part: string): string {
  if (/^i[345]86$/.test(part)) return 'i686';
  return { arm64: 'aarch64', macosx: 'darwin', riscv64: 'riscv64gc' }[part] ?? part;
}
