import { lstatSync, rmSync } from 'node:fs';
import { replaceFile, toIoError } from '../../bytes/index.js';

/** Tells scripts where a server listens: `HOST:PORT`, all of it or no file at all. */
export interface PortFile {
  write(address: string): void;
  remove(): void;
}

/** One of an earlier run goes at once, so that nobody takes its word; it also goes when the process is ended from within. */
export function createPortFile(path: string): PortFile {
  const remove = () => {
    try {
      if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) rmSync(path, { force: true });
    } catch (error) {
      throw toIoError(error, 'remove', path);
    }
  };
  remove();
  return {
    write: (address) => {
      replaceFile(path, address);
      process.on('exit', remove);
    },
    remove: () => {
      process.off('exit', remove);
      remove();
    },
  };
}
