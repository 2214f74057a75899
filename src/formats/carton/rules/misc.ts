import { scanMarkdown } from '../markdown.js';
import { miscFolder, miscPrefix } from '../spec.js';
import { memberPlace, type RuleContext } from './context.js';
import { type Breach, type Rule, show } from './rule.js';

const section = '`misc`';

/** Rules on misc/. */
export const miscRules: readonly Rule[] = [
  {
    id: 'CT-93',
    slug: 'unused-misc',
    level: 'note',
    clause: { document: 'carton-v1.md', section, quote: 'Non-tensor data referenced by the examples' },
    title: 'an example or the description refers to every file of misc/',
    check: findUnused,
  },
  {
    id: 'CT-94',
    slug: 'misc-types',
    level: 'warning',
    clause: { document: 'carton-v1.md', section, quote: 'they generally should be commonly used types' },
    title: 'files of misc/ are of common types',
    notCheckable: '"No specific requirements" stands before it, and no list says what is common',
  },
  {
    id: 'CT-95',
    slug: 'misc-readers',
    level: 'warning',
    clause: {
      document: 'carton-v1.md',
      section,
      quote: 'Systems using this data should generally understand at least the following types: - png - jpeg - mp3 - mp4',
    },
    title: 'png, jpeg, mp3 and mp4 are understood',
    notCheckable: 'It asks something of programs; modelport recognises these four by their content',
  },
];

/** Rules on misc/ that come from practice. */
export const miscAdvice: readonly Rule[] = [
  {
    id: 'CT-A16',
    slug: 'misc-extension',
    level: 'warning',
    clause: { document: 'practice', section: 'misc', quote: 'programs choose by the name what they do with a file' },
    title: 'the extension of a file says what its content is',
    check: ({ media, members }) => [...members.keys()].flatMap((path) => judgeExtension(path, media.get(path))),
  },
];

const typeOfExtension: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
};
/** Others that programs know; content of the four types is none of theirs. */
const otherExtensions = new Set('gif webp bmp tiff svg wav flac ogg avi mov mkv webm txt md json csv toml yaml html pdf zip npy'.split(' '));

function judgeExtension(path: string, found: string | undefined): Breach[] {
  if (!path.startsWith(miscFolder)) return [];
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const named = Object.hasOwn(typeOfExtension, extension) ? typeOfExtension[extension] : undefined;
  const isOdd = named === undefined ? found !== undefined && otherExtensions.has(extension) : named !== found;
  const what = found === undefined ? `is no ${named}` : `is ${found}`;
  return isOdd
    ? [{ where: memberPlace(path), message: `${show(path)} ${what} by its content`, hint: 'Rename the file, or put in the one that was meant' }]
    : [];
}

function findUnused({ info, toml, members }: RuleContext): Breach[] {
  if (toml.kind !== 'read') return [];
  const used = new Set<string>();
  for (const { inputs, outputs } of info.examples)
    for (const value of [...inputs.values(), ...outputs.values()]) if (value.kind === 'misc') used.add(value.path);
  for (const { target } of scanMarkdown(info.modelDescription ?? '').targets) {
    if (!target.startsWith(miscPrefix)) continue;
    used.add(target.slice(miscPrefix.length));
    used.add(decode(target.slice(miscPrefix.length)));
  }
  return [...members.keys()]
    .filter((path) => path.startsWith(miscFolder) && !used.has(path.slice(miscFolder.length)))
    .map((path) => ({ where: memberPlace(path), message: `Nothing refers to ${show(path)}`, hint: 'Remove it, or refer to it' }));
}

/** Targets of Markdown may be written as in a URL. */
export function decode(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}
