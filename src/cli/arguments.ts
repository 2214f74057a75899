import { usageError } from './errors.js';

/** For options that may be repeated: every value, in order. */
export function collect(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** A place to read a package from. Packages are read by offset, which a pipe cannot do. */
export function sourceArgument(text: string): string {
  if (text === '-')
    throw usageError('Cannot read a package from standard input: its parts are read out of order', 'Name a folder, a file or a package');
  return notEmpty(text);
}

/** A place to write a package to. It is published only when it is whole, which a pipe cannot do. */
export function targetArgument(text: string): string {
  if (text === '-')
    throw usageError(
      'Cannot write a package to standard output: it is put in place only when it is whole',
      'Name a file, such as model.tar, or a folder',
    );
  return notEmpty(text);
}

function notEmpty(text: string): string {
  if (text === '') throw usageError('Cannot use an empty place', 'An empty shell variable may be the cause');
  return text;
}

type Given<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The options that were really written: an absent one is left out, so that the verb's own default holds. */
export function given<T extends object>(options: T): Given<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given<T>;
}

export const locationHelp = 'folder, file, https://HOST/FILE.carton, oci:DIR[:TAG], oci-archive:FILE[:TAG], name, or HOST/REPO:TAG';
