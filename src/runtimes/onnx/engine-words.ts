import { escapeForDisplay } from '../../bytes/index.js';

const mostCharacters = 2000;

/** What an error of the engine says, on one line; it quotes names from the graph. */
export function toEngineWords(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = escapeForDisplay(text.replaceAll(/\s+/g, ' ').trim());
  return line.length > mostCharacters ? `${line.slice(0, mostCharacters)}…` : line;
}
