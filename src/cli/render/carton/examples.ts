import type { CartonExamplesResult, SampleValueResult } from '../../../ops/index.js';
import type { Style } from '../../terminal.js';
import { renderFindings } from '../findings.js';
import type { Render } from '../rendered.js';
import { plural } from '../text.js';

export const renderExamples: Render<CartonExamplesResult> = ({ samples, path, files, findings }, style) => ({
  out: [
    ...samples.flatMap(({ kind, name, description, inputs, outputs }) => [
      `${style.color.bold(name)}${style.color.dim(kind === 'self-test' ? ' (self test)' : '')}`,
      ...(description === undefined ? [] : [`  ${description}`]),
      ...inputs.map((value) => renderValue('in ', value, style)),
      ...outputs.map((value) => renderValue('out', value, style)),
    ]),
    ...(samples.length === 0 ? ['It has no examples and no self tests'] : []),
    ...(path === undefined ? [] : [`${style.color.green('Wrote')} ${plural(files, 'file')} to ${style.color.bold(path)}`]),
  ],
  err: renderFindings(findings, style),
  quiet: samples.flatMap(({ inputs, outputs }) => [...inputs, ...outputs].flatMap(({ file }) => file ?? [])),
});

function renderValue(side: string, { name, about, file }: SampleValueResult, style: Style): string {
  return `  ${style.color.dim(side)} ${name}: ${about}${file === undefined ? '' : style.color.dim(` ${file}`)}`;
}
