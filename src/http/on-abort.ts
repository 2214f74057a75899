/** Calls `action` when the signal says so; what is given back ends that, and may be called often. */
export function onAbort(signal: AbortSignal | undefined, action: () => void): () => void {
  signal?.addEventListener('abort', action, { once: true });
  return () => signal?.removeEventListener('abort', action);
}
