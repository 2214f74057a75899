import { escapeForDisplay } from '../../bytes/index.js';
import { createError, type Runtime } from '../../core/index.js';

/** True, or a question to a person: told what would run, and answered. */
export type Consent = boolean | ((question: string) => Promise<boolean>);

/** Code from a package runs only when somebody said so. Throws `runtime/no-consent`. */
export async function assertConsent(runtime: Runtime, location: string, entry: string | undefined, consent: Consent): Promise<void> {
  if (!runtime.runsCode) return;
  const what = `${runtime.title} code${entry === undefined ? '' : ` (${escapeForDisplay(entry)})`} that comes from "${location}"`;
  const allowed = typeof consent === 'boolean' ? consent : await consent(`Run ${what}? It can do on this machine whatever you can do.`);
  if (allowed) return;
  throw createError('runtime/no-consent', {
    message: `Cannot run "${location}" without consent: it would run ${what}`,
    hint: 'Look at it first (`modelport ls`, `modelport cat`), then add --allow-code',
  });
}
