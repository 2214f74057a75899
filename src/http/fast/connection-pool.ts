import type { FastConnection } from './fast-connection.js';

/** More idle connections to one origin than anyone works on at a time. */
const mostIdle = 16;

/** Connections without work, by where they lead; the one used last is the first to be used again. */
export class ConnectionPool {
  readonly #idle = new Map<string, FastConnection[]>();

  take(key: string): FastConnection | undefined {
    const open = (this.#idle.get(key) ?? []).filter(({ isOpen }) => isOpen);
    const last = open.pop();
    if (open.length > 0) this.#idle.set(key, open);
    else this.#idle.delete(key);
    return last;
  }

  give(key: string, connection: FastConnection): void {
    const open = (this.#idle.get(key) ?? []).filter(({ isOpen }) => isOpen);
    if (open.length >= mostIdle) return connection.destroy();
    connection.rest();
    this.#idle.set(key, [...open, connection]);
  }

  close(): void {
    for (const connection of [...this.#idle.values()].flat()) connection.destroy();
    this.#idle.clear();
  }
}
