import type { RmResult } from '../../ops/index.js';
import type { Render } from './rendered.js';

/** Of the local store. */
export const renderRm: Render<RmResult> = (result, style) => ({
  ...renderRemoteRm(result, style),
  err: ['`modelport prune` frees the space'],
});

/** A registry frees the space when it sees fit. */
export const renderRemoteRm: Render<RmResult> = ({ removed }, style) => ({
  out: removed.map(({ name, descriptor }) => `${style.color.green('Removed')} ${style.color.bold(name ?? '<none>')} ${descriptor.digest}`),
  err: [],
  quiet: removed.map(({ name, descriptor }) => name ?? descriptor.digest),
});
