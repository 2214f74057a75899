import type { RmResult } from '../../ops/index.js';
import type { Render } from './rendered.js';

export const renderRm: Render<RmResult> = ({ removed }, style) => ({
  out: removed.map(({ name, descriptor }) => `${style.color.green('Removed')} ${style.color.bold(name ?? '<none>')} ${descriptor.digest}`),
  err: ['`modelport prune` frees the space'],
  quiet: removed.map(({ name, descriptor }) => name ?? descriptor.digest),
});
