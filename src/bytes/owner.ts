import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isJsonObject } from '../core/index.js';
import { isSystemError } from './os-error.js';

/** Which process holds something on disk: a number alone may mean another process after a crash, a reboot or in another container. */
export interface Owner {
  readonly pid: number;
  /** When the process began, in the kernel's own units; empty where it cannot be known. */
  readonly started: string;
  /** Of the running system and of the process numbers in it; empty where they cannot be known. */
  readonly boot: string;
  readonly namespace: string;
  readonly host: string;
  /** Tells two holders within one process apart. */
  readonly token: string;
}

const here = { pid: process.pid, started: findStart(process.pid), boot: findBoot(), namespace: findNamespace(), host: hostname() };

export function createOwner(): Owner {
  return { ...here, token: randomBytes(8).toString('hex') };
}

export function toOwnerText(owner: Owner): string {
  return JSON.stringify(owner);
}

/** Undefined for anything that is not the text of an owner. */
export function parseOwner(text: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value) || !Number.isSafeInteger(value['pid']) || !isToken(value['token'])) return undefined;
    const { pid, token, started, boot, namespace, host } = value;
    return { pid: pid as number, token, started: toText(started), boot: toText(boot), namespace: toText(namespace), host: toText(host) };
  } catch {
    return undefined;
  }
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{16}$/.test(value);
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `unknown` for a process that cannot be seen from here: on another machine, or in a container of its own. */
export function lifeOf(owner: Owner): 'alive' | 'dead' | 'unknown' {
  if (owner.boot !== here.boot) return owner.host === here.host ? 'dead' : 'unknown';
  if (owner.namespace !== here.namespace || owner.host !== here.host) return 'unknown';
  if (!exists(owner.pid)) return 'dead';
  const started = findStart(owner.pid);
  return started === owner.started || started === '' || owner.started === '' ? 'alive' : 'dead';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isSystemError(error, 'EPERM');
  }
}

/** Field 22 of /proc/PID/stat, in clock ticks since boot. The name of the program before it may hold spaces and brackets. */
function findStart(pid: number): string {
  const stat = findText(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function findBoot(): string {
  return findText(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

function findNamespace(): string {
  return findText(() => readlinkSync('/proc/self/ns/pid'));
}

function findText(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
