import type { Finding, RunnableModel } from '../../core/index.js';

/** How a graph is run. It travels to a process of its own as JSON. */
export interface GraphSettings {
  /** Names of execution providers, the preferred one first. */
  readonly providers: readonly string[];
  readonly intraOpNumThreads?: number;
  readonly interOpNumThreads?: number;
}

/** Run on the processor; all others need a device. */
export const processorProviders: readonly string[] = ['cpu', 'xnnpack'];

export function isGpu(device: string | undefined): device is string {
  return device !== undefined && device.toLowerCase() !== 'cpu';
}

/**
 * The providers are those that the package or a person names, else `cuda` on a GPU and `cpu` elsewhere; without a GPU those that need one are left
 * out with a warning. An option of a wrong type is left to the engine's default: whoever judges options has said so.
 */
export function readGraphSettings(
  options: RunnableModel['options'],
  device: string | undefined,
): { readonly settings: GraphSettings; readonly findings: readonly Finding[] } {
  const [intra, inter] = [toInteger(options['intra_op_num_threads']), toInteger(options['inter_op_num_threads'])];
  const named = splitNames(options['providers']);
  const wanted = named.length > 0 ? named : [isGpu(device) ? 'cuda' : 'cpu'];
  const left = isGpu(device) ? [] : wanted.filter((name) => !processorProviders.includes(name));
  const kept = wanted.filter((name) => !left.includes(name));
  const settings = {
    providers: kept.length > 0 ? kept : ['cpu'],
    ...(intra !== undefined && { intraOpNumThreads: intra }),
    ...(inter !== undefined && { interOpNumThreads: inter }),
  };
  return { settings, findings: left.map(toLeftOut) };
}

function splitNames(value: unknown): readonly string[] {
  if (typeof value !== 'string') return [];
  const names = value.split(',').map((name) => name.trim().toLowerCase());
  return [...new Set(names.filter((name) => name !== ''))];
}

function toInteger(value: unknown): number | undefined {
  const number = typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

function toLeftOut(name: string): Finding {
  return {
    level: 'warning',
    code: 'runtime/provider-left-out',
    message: `The provider ${JSON.stringify(name)} is not used: the device is cpu`,
    where: 'providers',
    hint: 'choose a GPU with --device 0',
  };
}
