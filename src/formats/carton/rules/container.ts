import { findTwins, judgePath } from '../../../bytes/index.js';
import type { Document } from '../carton.js';
import { linksName, manifestName, miscFolder, modelFolder, tensorFolder, tomlName } from '../spec.js';
import { memberPlace, type RuleContext } from './context.js';
import { type Breach, type Rule, show } from './rule.js';

const section = 'Carton format';

/** Rules on the zip and on what it holds. */
export const containerRules: readonly Rule[] = [
  {
    id: 'CT-01',
    slug: 'zip-file',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Every carton is a zipfile' },
    title: 'a carton is a zip',
    notCheckable:
      'What is no zip is not recognised as a carton, and a damaged one is refused when it is opened; an unpacked folder and a registry artifact hold the same members',
  },
  {
    id: 'CT-02',
    slug: 'extension',
    level: 'warning',
    clause: { document: 'carton-v1.md', section, quote: 'with the extension `.carton`' },
    title: 'the name of the zip ends in .carton (a warning, because no reader looks at it and the original writer leaves it out)',
    check: ({ documents: { members } }) =>
      members.container !== 'zip' || /\.carton(?:[?#].*)?$/is.test(members.location)
        ? []
        : [{ where: () => members.location, message: `The name ${show(members.location)} does not end in .carton`, hint: 'Rename the file' }],
  },
  {
    id: 'CT-03',
    slug: 'compression-method',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'The supported zip compression methods are `Stored`, `Deflate`, and `zstd`' },
    title: 'no member is compressed in another way',
    notCheckable: 'A zip with another method is refused when it is opened, so that no rule ever sees it',
  },
  {
    id: 'CT-04',
    slug: 'toml-missing',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'A file named `carton.toml`' },
    title: 'carton.toml is there',
    check: ({ documents }) => expectThere(documents.toml, tomlName, 'Pack the model again'),
  },
  {
    id: 'CT-05',
    slug: 'manifest-missing',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'A file named `MANIFEST`' },
    title: 'MANIFEST is there',
    check: ({ documents }) => expectThere(documents.manifest, manifestName, 'Pack the model again: modelport pack writes MANIFEST'),
  },
  {
    id: 'CT-06',
    slug: 'model-missing',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'A folder named `model`' },
    title: 'there is a file in model/, in the carton or linked',
    check: ({ members, manifest }) =>
      [...members.keys(), ...(manifest?.lines.map(({ path }) => path) ?? [])].some((path) => path.startsWith(modelFolder) || path === 'model')
        ? []
        : [
            {
              where: memberPlace(modelFolder),
              message: 'Cannot find a file in model/: there is nothing to run',
              hint: 'Pack the model again, with its files',
            },
          ],
  },
  {
    id: 'CT-07',
    slug: 'member-kind',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'An optional folder named `tensor_data` … An optional file named `LINKS`' },
    title: 'what is a folder in the list is no file, and the other way round',
    check: checkKinds,
  },
];

/** Rules on members that come from practice. */
export const memberAdvice: readonly Rule[] = [
  {
    id: 'CT-A1',
    slug: 'unknown-member',
    level: 'note',
    clause: { document: 'practice', section: 'members', quote: 'Each carton contains the following' },
    title: 'nothing lies beside the six members of the format',
    check: ({ members }) =>
      [...members.keys()]
        .filter((path) => !isOfTheFormat(path))
        .map((path) => ({
          where: memberPlace(path),
          message: `${show(path)} belongs to none of the folders of the format; runners do not see it`,
          hint: 'Move it to model/ or misc/',
        })),
  },
  {
    id: 'CT-A2',
    slug: 'twin-paths',
    level: 'warning',
    clause: { document: 'practice', section: 'members', quote: 'file systems that fold case or Unicode forms hold one of two such files' },
    title: 'no two paths differ in case or Unicode form alone, and none is file and folder at once',
    check: ({ members, documents: { limits } }) =>
      findTwins([...members.keys()].filter((path) => judgePath(path, limits) === undefined)).map(({ kind, first, second }) => ({
        where: memberPlace(second),
        message: `${show(second)} and ${show(first)} ${kind === 'file-and-folder' ? 'cannot both exist' : 'are one file on many systems'}`,
        hint: 'Rename one of them and pack again',
      })),
  },
];

function expectThere(document: Document<unknown>, name: string, hint: string): Breach[] {
  return document.kind === 'absent' ? [{ where: memberPlace(name), message: `Cannot find ${name}: the carton has no such file`, hint }] : [];
}

const fileNames = [tomlName, manifestName, linksName];
const folders = [modelFolder, tensorFolder, miscFolder];

function checkKinds({ members }: RuleContext): Breach[] {
  return [...members.keys()].flatMap((path) => {
    const top = path.split('/', 1)[0] ?? '';
    const isFile = path === top;
    const hint = 'Pack the model again';
    if (isFile && folders.includes(`${top}/`))
      return [{ where: memberPlace(path), message: `Expected the folder ${top}/, found a file of that name`, hint }];
    if (!isFile && fileNames.includes(top))
      return [{ where: memberPlace(path), message: `Expected the file ${top}, found a folder of that name`, hint }];
    return [];
  });
}

function isOfTheFormat(path: string): boolean {
  const [top = ''] = path.split('/', 1);
  return fileNames.includes(top) || folders.includes(`${top}/`);
}
