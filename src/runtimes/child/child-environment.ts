/** Nothing else reaches a model: no tokens, no settings of the user, no search paths for code. */
const passed = /^(PATH|HOME|LANG|LANGUAGE|LC_[A-Z]+|TMPDIR|TEMP|TMP|TZ|CUDA.*|LD_LIBRARY_PATH|SystemRoot)$/;

/** The environment of a model's process. `device` is the one GPU that it sees; without it, and for `cpu`, none. */
export function childEnvironment(env: Readonly<Record<string, string | undefined>>, device: string | undefined): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && passed.test(entry[0]));
  return { ...Object.fromEntries(kept), CUDA_VISIBLE_DEVICES: device === undefined || device === 'cpu' ? '' : device };
}
