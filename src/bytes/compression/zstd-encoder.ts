/** zstd's own default; another level would change every digest. */
const level = 3;

export type ZstdEncoder = (bytes: Uint8Array) => Uint8Array;

let loading: Promise<ZstdEncoder> | undefined;

/** One wasm encoder on every version of Node: the native ones give different bytes. It finds its wasm file beside its own code, so it is never bundled. */
export function loadZstdEncoder(): Promise<ZstdEncoder> {
  loading ??= import('@bokuweb/zstd-wasm').then(async ({ init, compress }) => {
    await init();
    return (bytes) => compress(bytes, level);
  });
  return loading;
}
