import { toDisplayable, toJson, type Escape } from './display.js';
import { type Failure, renderFailure, toErrorDocument } from './errors.js';
import { type CliIo, type OutputStream, write } from './io.js';
import type { Render } from './render/rendered.js';
import { type ColorMode, styleFor } from './terminal.js';

export interface OutputOptions {
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly color?: ColorMode | undefined;
}

/** Standard output gets the result and nothing else: one JSON document, or the lines of `render`. Remarks go to standard error. */
export async function writeResult<R>(io: CliIo, options: OutputOptions, escape: Escape, result: R, render: Render<R>): Promise<void> {
  if (options.json === true) return write(io.stdout, `${toJson(result, 2)}\n`);
  const safe = toDisplayable(result, escape);
  const { out, quiet } = render(safe, styleFor(io.stdout, io.env, options.color));
  await writeLines(io.stdout, options.quiet === true ? quiet : out);
  if (options.quiet !== true) await writeLines(io.stderr, render(safe, styleFor(io.stderr, io.env, options.color)).err);
}

export async function writeFailure(io: CliIo, options: OutputOptions, escape: Escape, failure: Failure): Promise<void> {
  if (options.json === true) return write(io.stdout, `${toJson(toErrorDocument(failure), 2)}\n`);
  const { stack, ...words } = failure;
  const safe = { ...toDisplayable(words, escape), stack: stack?.split('\n').map(escape).join('\n') };
  await writeLines(io.stderr, renderFailure(safe, styleFor(io.stderr, io.env, options.color), Boolean(io.env['MODELPORT_DEBUG'])));
}

const linesAtOnce = 2000;

/** A list of a million files is written piece by piece, as fast as it is read. */
export async function writeLines(stream: OutputStream, lines: readonly string[]): Promise<void> {
  for (let at = 0; at < lines.length; at += linesAtOnce) await write(stream, `${lines.slice(at, at + linesAtOnce).join('\n')}\n`);
}
