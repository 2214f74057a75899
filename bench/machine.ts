import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** What the figures depend on, and nothing that names the machine or its owner. */
export function describeMachine(): Fact[] {
  return [
    { name: 'date', value: new Date().toISOString().slice(0, 10) },
    { name: 'processor', value: `${availableParallelism()} cores, ${cpus()[0]?.model.trim() ?? 'unknown'}` },
    { name: 'memory', value: `${(totalmem() / 2 ** 30).toFixed(0)} GiB` },
    { name: 'system', value: `${type()} ${release().split('.', 2).join('.')}` },
    { name: 'Node', value: process.version },
  ];
}

/** Processes that wanted to run, averaged over the last minute. */
export function describeLoad(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
