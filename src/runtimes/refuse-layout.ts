import type { Acceptance, RunnableModel } from '../core/index.js';

/** The one layout of model folders that the runtimes here read. */
const layoutVersion = 1;

/** Why a model's folder cannot be read, where its package states a layout. */
export function refuseLayout(model: RunnableModel): (Acceptance & { readonly yes: false }) | undefined {
  if (model.layoutVersion === undefined || model.layoutVersion === layoutVersion) return undefined;
  const reason = `its folder has the layout ${model.layoutVersion} (runner_compat_version), expected ${layoutVersion}`;
  return { yes: false, reason, hint: 'Pack the model again with modelport, which writes the layout 1' };
}
