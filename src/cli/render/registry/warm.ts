import type { RegistryWarmResult } from '../../../ops/index.js';
import type { Render } from '../rendered.js';
import { plural, toSize } from '../text.js';

export const renderWarm: Render<RegistryWarmResult> = ({ packages }, style) => ({
  out: packages.map(({ name, digest, blobs, bytes, skipped }) => {
    const rest = skipped === 0 ? '' : `, ${skipped} more ${skipped === 1 ? 'comes' : 'come'} when asked for`;
    return `${style.color.green('Ready')} ${style.color.bold(name)} ${digest}: ${plural(blobs, 'blob')}, ${toSize(bytes)}${rest}`;
  }),
  err: [],
  quiet: packages.map(({ digest }) => digest),
});
