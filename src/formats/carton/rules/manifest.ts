import { judgePath } from '../../../bytes/index.js';
import type { ManifestLine } from '../carton.js';
import { manifestName, unlisted } from '../spec.js';
import { memberPlace, type Place, type RuleContext } from './context.js';
import { type Breach, type Rule, show } from './rule.js';

const section = '`MANIFEST`';
/** What no line can hold; such a member is found by a rule of its own. */
const lineBreak = /[\r\n]/;
const packAgain = 'Pack the model again: modelport pack writes MANIFEST';

/** Rules on MANIFEST. */
export const manifestRules: readonly Rule[] = [
  {
    id: 'CT-66',
    slug: 'manifest',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'This is a file that lists the contents of the carton' },
    title: 'MANIFEST is UTF-8 text within the limits',
    check: ({ documents: { manifest } }) =>
      manifest.kind === 'broken'
        ? [{ where: () => manifest.finding.where ?? manifestName, message: manifest.finding.message, hint: manifest.finding.hint ?? packAgain }]
        : [],
  },
  {
    id: 'CT-67',
    slug: 'manifest-order',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'in alphabetical order' },
    title: 'lines stand in the order of the UTF-8 bytes of their paths',
    check: checkOrder,
  },
  {
    id: 'CT-68',
    slug: 'manifest-entry',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'with one entry per line' },
    title: 'no line is empty, and each ends with a newline',
    check: ({ manifest }) => {
      const empty = linesWith(
        manifest?.lines,
        ({ text }) => /^\s*$/.test(text),
        () => 'it is empty',
      );
      const last = manifest?.lines.at(-1);
      return manifest?.endsWithNewline === false && last !== undefined
        ? [...empty, { where: placeOf(last), message: 'The last line of MANIFEST has no newline at its end', hint: packAgain }]
        : empty;
    },
  },
  {
    id: 'CT-69',
    slug: 'manifest-path-twice',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'lists the contents of the carton … with one entry per line' },
    title: 'no path has two lines',
    check: ({ manifest }) => {
      const seen = new Set<string>();
      return linesWith(
        manifest?.lines,
        ({ path, text }) => text !== '' && seen.size === seen.add(path).size,
        ({ path }) => `${show(path)} stands above it already`,
      );
    },
  },
  {
    id: 'CT-70',
    slug: 'manifest-line',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Each line is in the following format: … {filepath}={sha256}' },
    title: 'a line is a path, "=" and a hash of 64 hex digits; the last "=" counts',
    check: ({ manifest }) => [
      ...linesWith(
        manifest?.lines,
        ({ sha256, text }) => sha256 === undefined && text.trim() !== '',
        () => 'expected PATH=SHA256, found no "="',
      ),
      ...linesWith(
        manifest?.lines,
        ({ sha256 }) => sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256.trim()),
        ({ sha256 }) => `expected 64 hex digits after "=", found ${show(sha256)}`,
      ),
    ],
  },
  {
    id: 'CT-71',
    slug: 'manifest-hash',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: '{sha256}' },
    title: 'the hash of a document or text tensor is that of its content (those of all files are for `verify`)',
    check: ({ manifest, digests }) =>
      [...digests].flatMap(([path, digest]) => {
        const listed = manifest?.digests.get(path);
        return listed === undefined || listed === digest
          ? []
          : [
              {
                where: memberPlace(path),
                message: `${show(path)} is not what MANIFEST lists: expected ${listed}, found ${digest}`,
                hint: 'Pack the model again after a change',
              },
            ];
      }),
  },
  {
    id: 'CT-72',
    slug: 'manifest-blank',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'No spaces or other characters are allowed' },
    title: 'no blank, tab or carriage return stands at the ends of a line or around its "="',
    check: ({ manifest }) =>
      linesWith(
        manifest?.lines,
        ({ text, path, sha256 }) => text.trim() !== '' && [text, path, sha256 ?? ''].some((each) => each !== each.trim()),
        ({ text }) =>
          `white space stands at an end of it or around "=" in ${show(text.length > 90 ? `${text.slice(0, 20)}…${text.slice(-68)}` : text)}`,
      ),
  },
  {
    id: 'CT-73',
    slug: 'manifest-blank-in-path',
    level: 'warning',
    clause: { document: 'carton-v1.md', section, quote: 'No spaces or other characters are allowed' },
    title: 'no path holds a blank (a warning, because it is no place for one that the format names)',
    check: ({ manifest }) =>
      linesWith(
        manifest?.lines,
        ({ path }) => /\s/.test(path.trim()),
        ({ path }) => `the path ${show(path)} holds white space`,
        'Rename the file',
      ),
  },
  {
    id: 'CT-74',
    slug: 'unlisted-member',
    level: 'warning',
    clause: {
      document: 'carton-v1.md',
      section,
      quote: 'The only two files it does not contain an entry for are `MANIFEST` (i.e. itself) and `LINKS`',
    },
    title: 'every other file of the carton is listed (a warning, an error with --strict: readers take the file and nothing says what it should be)',
    check: ({ manifest, members }) => {
      const listed = new Set(manifest?.lines.flatMap(({ path }) => [path, path.trim()]));
      return [...members.keys()]
        .filter((path) => manifest !== undefined && !unlisted.includes(path) && !listed.has(path) && !lineBreak.test(path))
        .map((path) => ({
          where: memberPlace(path),
          message: `${show(path)} is not listed in MANIFEST: nothing says what it should be`,
          hint: 'Pack the model again, or remove the file',
        }));
    },
  },
  {
    id: 'CT-75',
    slug: 'manifest-lists-itself',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'it does not contain an entry for … `MANIFEST` (i.e. itself)' },
    title: 'MANIFEST does not list itself',
    check: ({ manifest }) =>
      linesWith(
        manifest?.lines,
        ({ path }) => path === manifestName,
        () => 'MANIFEST does not list itself',
        'Remove the line',
      ),
  },
  {
    id: 'CT-76',
    slug: 'manifest-format',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Any changes to the manifest format require a bump in `spec_version` above' },
    title: 'another format has another spec_version',
    notCheckable: 'It speaks of the specification; other versions than 1 are refused',
  },
  {
    id: 'CT-77',
    slug: 'model-hash',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: '"model hash" or "manifest hash" generally refers to the sha256 of the MANIFEST file' },
    title: 'the model hash is the SHA-256 of MANIFEST',
    notCheckable: 'It says what a word means; `inspect` shows this hash',
  },
  {
    id: 'CT-78',
    slug: 'model-content',
    level: 'error',
    clause: { document: 'carton-v1.md', section: '`model`', quote: 'The contents of this folder are unspecified and vary across runners' },
    title: 'model/ holds what the runner needs',
    notCheckable: 'Only the runner knows; `test` and `run` show it',
  },
];

/** Rules on MANIFEST that come from practice. */
export const manifestAdvice: readonly Rule[] = [
  {
    id: 'CT-A10',
    slug: 'manifest-upper-case',
    level: 'warning',
    clause: { document: 'practice', section: 'MANIFEST', quote: 'writers use small letters, and the model hash depends on it' },
    title: 'hashes are in small letters',
    check: ({ manifest }) =>
      linesWith(
        manifest?.lines,
        ({ sha256 = '' }) => /^[0-9a-f]{64}$/i.test(sha256.trim()) && /[A-F]/.test(sha256),
        ({ path }) => `the hash of ${show(path)} has capital letters`,
      ),
  },
  {
    id: 'CT-A11',
    slug: 'manifest-path',
    level: 'error',
    clause: { document: 'practice', section: 'MANIFEST', quote: 'a path is relative, inside the carton, with `/`' },
    title: 'every path can be one of a package',
    check: ({ manifest, documents: { limits } }) =>
      linesWith(
        manifest?.lines,
        ({ path, text }) => text.trim() !== '' && judgePath(path.trim(), limits) !== undefined,
        ({ path }) => `cannot use the path ${show(path)}: ${judgePath(path.trim(), limits)}`,
      ),
  },
  {
    id: 'CT-A12',
    slug: 'path-with-line-break',
    level: 'error',
    clause: { document: 'practice', section: 'MANIFEST', quote: 'a path with a line break has no place in it' },
    title: 'no path of a member holds a line break',
    check: ({ members }) =>
      [...members.keys()]
        .filter((path) => lineBreak.test(path))
        .map((path) => ({ where: () => show(path), message: `The path ${show(path)} holds a line break`, hint: 'Rename the file and pack again' })),
  },
];

function checkOrder({ manifest }: RuleContext): Breach[] {
  const lines = (manifest?.lines ?? []).filter(({ text }) => text.trim() !== '');
  const keys = lines.map(({ path }) => Buffer.from(path));
  return lines.flatMap((line, at) => {
    const [before, key] = [keys[at - 1], keys[at]];
    return before === undefined || key === undefined || Buffer.compare(before, key) <= 0
      ? []
      : [{ where: placeOf(line), message: `${show(line.path)} stands after ${show(lines[at - 1]?.path)} and belongs before it`, hint: packAgain }];
  });
}

function linesWith(
  lines: readonly ManifestLine[] | undefined,
  isOdd: (line: ManifestLine) => boolean,
  explain: (line: ManifestLine) => string,
  hint: string = packAgain,
): Breach[] {
  return (lines ?? [])
    .filter(isOdd)
    .map((line) => ({ where: placeOf(line), message: `Cannot use line ${line.line} of MANIFEST: ${explain(line)}`, hint }));
}

function placeOf({ line }: ManifestLine): Place {
  return () => `${manifestName}:${line}:1`;
}
