import type { ChildProcess } from 'node:child_process';

/** Kills a process and all that it started, also after it has ended itself. Windows has no groups: there it is the process alone. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nobody is left in the group.
  }
}

const running = new Set<ChildProcess>();

function killAll(): void {
  for (const child of running) killGroup(child);
}

/** A modelport that leaves without closing what it started takes it along. What is given back forgets the process. */
export function killGroupAtExit(child: ChildProcess): () => void {
  if (running.size === 0) process.once('exit', killAll);
  running.add(child);
  return () => {
    running.delete(child);
    if (running.size === 0) process.off('exit', killAll);
  };
}
