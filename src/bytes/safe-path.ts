import { createError, type Limits } from '../core/index.js';
import { escapeForDisplay } from './escape-for-display.js';

/** NUL and the other controls that a terminal or a C string acts on, `\`, what a decoder leaves of invalid UTF-8, lone surrogates. */
const forbidden = /[\p{Surrogate}\\\ufffd]|(?![\u0080-\u009f])\p{Cc}/u;
const drive = /^[A-Za-z]:/;

/**
 * The one judge of paths: why `path` may not be a path of a package, or undefined. A package path is relative, with `/`, without
 * empty, `.` and `..` segments (`a..b` is fine), without control characters and backslashes, and within the limits.
 */
export function judgePath(path: string, limits: Limits): string | undefined {
  if (path === '') return 'it is empty';
  if (path.startsWith('/')) return 'it is absolute';
  if (drive.test(path)) return 'it begins with a drive letter';
  return judgeCharacters(path) ?? judgeSegments(path, limits);
}

/** Why a path or link target holds what neither may hold: controls, backslashes, invalid UTF-8. */
export function judgeCharacters(text: string): string | undefined {
  const character = forbidden.exec(text)?.[0];
  return character === undefined ? undefined : forbiddenReason(character);
}

/**
 * The same for entries of image layers, which may hold whatever a Linux file system can: backslashes (systemd units),
 * controls, names that are not UTF-8.
 */
export function judgeLayerPath(path: string, limits: Limits): string | undefined {
  if (process.platform === 'win32') return judgePath(path, limits);
  if (path === '') return 'it is empty';
  if (path.includes('\0')) return forbiddenReason('\0');
  return judgeSegments(path, limits);
}

function forbiddenReason(character: string): string {
  if (character === '\\') return 'it holds a backslash';
  if (character === '\0') return 'it holds a NUL character';
  if (character === '\ufffd' || /\p{Surrogate}/u.test(character)) return 'it is not valid UTF-8';
  return 'it holds a control character';
}

function judgeSegments(path: string, limits: Limits): string | undefined {
  if (byteLength(path) > limits.pathBytes) return `it is longer than ${limits.pathBytes} bytes`;
  const segments = path.split('/');
  if (segments.length > limits.pathComponents) return `it is more than ${limits.pathComponents} folders deep`;
  for (const segment of segments) {
    if (segment === '') return 'it has an empty part (two slashes, or one at the end)';
    if (segment === '.') return 'it has a part that is only a dot';
    if (segment === '..') return 'it has a ".." part and could leave the package';
    if (byteLength(segment) > limits.componentBytes) return `one of its parts is longer than ${limits.componentBytes} bytes`;
  }
  return undefined;
}

/** A UTF-16 unit is at most three bytes, so short text needs no counting. */
function byteLength(text: string): number {
  return text.length <= 80 ? 0 : Buffer.byteLength(text);
}

const reserved = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])( *\..*)?$/i;
const shortName = /^[^.~]{1,6}~\d{1,5}(\.[^.]{0,3})?$/;

/** Why a path that is fine here cannot be a file on Windows, or is another file there; undefined when it is portable. */
export function portabilityOf(path: string): string | undefined {
  for (const segment of path.split('/')) {
    const quoted = `"${escapeForDisplay(segment)}"`;
    if (reserved.test(segment)) return `${quoted} is the name of a device on Windows`;
    if (/[. ]$/.test(segment)) return `${quoted} ends in a dot or a space, which Windows drops`;
    const character = /[<>:"|?*]/.exec(segment)?.[0];
    if (character !== undefined) return `${quoted} holds ${character}, which Windows does not take`;
    if (shortName.test(segment)) return `${quoted} looks like a short name of Windows for another file`;
  }
  return undefined;
}

/** Throws `bytes/unsafe-path` with the reason of `judgePath`. `where` names what holds the path: an archive, a layer, a manifest. */
export function assertSafePath(path: string, where: string, limits: Limits): void {
  const reason = judgePath(path, limits);
  if (reason !== undefined) throw unsafePath(path, where, reason);
}

export function unsafePath(path: string, where: string, reason: string): Error {
  return createError('bytes/unsafe-path', {
    message: `Cannot use the path "${escapeForDisplay(path)}" of ${escapeForDisplay(where)}: ${reason}`,
    hint: 'The package is broken or hostile; nothing of it was kept',
    where: escapeForDisplay(where),
  });
}

/** An archive's spelling of a path: without leading `./` and without the slash that marks a folder. The root itself becomes ''. */
export function normalizeEntryName(name: string): string {
  let start = 0;
  while (name.startsWith('./', start)) start += 2;
  const end = name.endsWith('/') ? name.length - 1 : name.length;
  const rest = name.slice(start, Math.max(start, end));
  return rest === '.' ? '' : rest;
}
