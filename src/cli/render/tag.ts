import type { TagResult } from '../../ops/index.js';
import type { Render } from './rendered.js';

export const renderTag: Render<TagResult> = ({ name, digest, replaced }, style) => ({
  out: [`${style.color.green('Tagged')} ${style.color.bold(name)} ${digest}`],
  err: replaced === null || replaced === digest ? [] : [`It was ${replaced} before`],
  quiet: [digest],
});
