import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createError } from '../../core/index.js';
import { escapeForDisplay } from '../escape-for-display.js';
import { toIoError } from '../os-error.js';

export interface Move {
  readonly from: string;
  readonly to: string;
}

/**
 * The renames that put all of `from` into the existing folder `to`: a folder that is not there yet moves as a whole, files and links
 * replace files and links of their name. Nothing is moved through a link: where a folder is needed and something else
 * stands, or the other way round, it throws `bytes/exists`.
 */
export function planMerge(from: string, to: string): readonly Move[] {
  try {
    const moves: Move[] = [];
    collectMoves(from, to, moves);
    return moves;
  } catch (error) {
    throw toIoError(error, 'unpack to', to);
  }
}

function collectMoves(from: string, to: string, moves: Move[]): void {
  for (const found of readdirSync(from, { withFileTypes: true })) {
    const move = { from: join(from, found.name), to: join(to, found.name) };
    const existing = lstatSync(move.to, { throwIfNoEntry: false });
    if (existing === undefined || (!existing.isDirectory() && !found.isDirectory())) moves.push(move);
    else if (existing.isDirectory() && found.isDirectory()) collectMoves(move.from, move.to, moves);
    else throw clash(move.to, found.isDirectory());
  }
}

function clash(path: string, needsFolder: boolean): Error {
  const reason = needsFolder
    ? 'the package has a folder there, and a file or link of that name exists'
    : 'the package has a file there, and a folder of that name exists';
  return createError('bytes/exists', {
    message: `Cannot unpack to "${escapeForDisplay(path)}": ${reason}`,
    hint: 'Remove what stands there, or choose a new folder',
    where: escapeForDisplay(path),
  });
}
