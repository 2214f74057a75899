import type { RegistryServeResult } from '../../../ops/index.js';
import type { Render } from '../rendered.js';

const whoMayEnter = {
  none: undefined,
  write: 'who writes has to log in',
  all: 'everybody has to log in',
} as const;

export const renderServe: Render<RegistryServeResult> = ({ url, dir, repository, readOnly, mirror, auth }, style) => {
  const manner = [readOnly ? 'read-only' : undefined, mirror === null ? undefined : `mirror of ${mirror}`, whoMayEnter[auth]].filter(
    (word) => word !== undefined,
  );
  return {
    out: [`${style.color.green('Listening')} on ${style.color.bold(url)} (store ${dir})${manner.map((word) => `, ${word}`).join('')}`],
    err: repository === null ? [] : [`Names of the layout that are a tag alone are served as ${repository}:TAG`],
    quiet: [url],
  };
};
