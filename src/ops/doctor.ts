import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isToolkitError } from '../core/index.js';
import { openLocalStore } from '../store/index.js';
import type { OpsContext } from './context.js';
import type { DoctorResult } from './results.js';

type Check = DoctorResult['checks'][number];

/** Looks at what modelport needs and says what would mend what is missing. Changes nothing. */
export async function doctor(_options: object, context: OpsContext): Promise<DoctorResult> {
  const checks = [
    checkNode(),
    checkWritable('store folder', context.home),
    checkWritable('temporary folder', context.env['TMPDIR'] ?? tmpdir()),
    checkSpace(context.home),
    checkEpoch(context),
    ...(await checkStore(context)),
  ];
  return { ok: checks.every((check) => check.status !== 'error'), checks };
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const good = major > 20 || (major === 20 && minor >= 19);
  const message = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;
  return good ? { name: 'node', status: 'ok', message } : { name: 'node', status: 'error', message, hint: 'Install Node 20.19 or later' };
}

/** The nearest folder that exists must take a new folder; nothing is left there. */
function checkWritable(name: string, folder: string): Check {
  const existing = nearestExisting(folder);
  try {
    rmSync(mkdtempSync(join(existing, '.modelport-doctor-')), { recursive: true });
    return { name, status: 'ok', message: `${folder} can be written` };
  } catch (error) {
    return {
      name,
      status: 'error',
      message: `${folder} cannot be written: ${(error as Error).message}`,
      hint: name === 'store folder' ? 'Set MODELPORT_HOME to a folder of yours' : 'Set TMPDIR to a folder of yours',
    };
  }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestExisting(dirname(folder));
}

const wantedBytes = 1024 ** 3;

function checkSpace(folder: string): Check {
  const { bavail, bsize } = statfsSync(nearestExisting(folder));
  const free = bavail * bsize;
  const message = `${(free / 1e9).toFixed(1)} GB free for the store`;
  return free >= wantedBytes
    ? { name: 'disk', status: 'ok', message }
    : { name: 'disk', status: 'warning', message, hint: 'Free some space: `modelport prune`' };
}

function checkEpoch(context: OpsContext): Check {
  const text = context.env['SOURCE_DATE_EPOCH'];
  if (text === undefined || text === '')
    return { name: 'times', status: 'ok', message: 'Packages carry no times, so that digests depend on content alone' };
  if (/^\d{1,11}$/.test(text)) return { name: 'times', status: 'ok', message: `Packages carry the time of SOURCE_DATE_EPOCH=${text}` };
  return { name: 'times', status: 'error', message: `SOURCE_DATE_EPOCH is "${text}"`, hint: 'Set it to seconds since 1970, or unset it' };
}

/** The index can be read and every name leads to a manifest. */
async function checkStore(context: OpsContext): Promise<Check[]> {
  if (!existsSync(join(context.home, 'index.json'))) return [{ name: 'store', status: 'ok', message: 'The store is empty' }];
  try {
    const { names, missing } = await readNames(context);
    if (missing.length === 0) return [{ name: 'store', status: 'ok', message: `${names} names, each with its manifest` }];
    return [
      {
        name: 'store',
        status: 'error',
        message: `No manifest for ${missing.join(', ')}`,
        hint: `Remove them: \`modelport rm ${missing.join(' ')}\``,
      },
    ];
  } catch (error) {
    if (!isToolkitError(error)) throw error;
    return [{ name: 'store', status: 'error', message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) }];
  }
}

async function readNames(context: OpsContext): Promise<{ names: number; missing: string[] }> {
  const store = await openLocalStore(context);
  const missing: string[] = [];
  const entries = await store.list();
  for (const { name, descriptor } of entries) if (!(await store.has(descriptor))) missing.push(name ?? descriptor.digest);
  return { names: entries.length, missing };
}
