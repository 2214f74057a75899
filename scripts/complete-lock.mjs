/**
 * npm run lock, after every npm install that changed package-lock.json. A registry that does not hold the builds of a tool for other
 * systems makes npm leave them out of the lock file, and npm ci then refuses it everywhere. This adds what is missing.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, root } from './setup.mjs';

const systems = 'aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32';
const build = new RegExp(`(?<os>${systems})-(?<cpu>arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|x64)(-(?<abi>gnu|musl))?`);

/** A package that is installed on its own system only, as npm would have written it but for the hash, which is not known. */
function toEntry(name, version, dev) {
  const found = build.exec(name)?.groups;
  if (found === undefined) throw new Error(`Cannot add "${name}" to package-lock.json: its name does not say for which system it is`);
  const { os, cpu, abi } = found;
  const libc = os === 'linux' && abi !== undefined ? { libc: [abi === 'gnu' ? 'glibc' : 'musl'] } : {};
  return { version, cpu: [cpu], ...(dev ? { dev } : {}), ...libc, optional: true, os: [os] };
}

const lock = readJson('package-lock.json');
const before = Object.keys(lock.packages).length;
for (const [parent, { optionalDependencies = {}, dev = false }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (`${parent}/node_modules/${name}` in lock.packages || `node_modules/${name}` in lock.packages) continue;
    lock.packages[`node_modules/${name}`] = toEntry(name, version, dev);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync(join(root, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${Object.keys(lock.packages).length - before} packages added`);
