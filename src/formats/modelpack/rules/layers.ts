import { isWeightsFile } from '../roles.js';
import { type LayerState, typedVintages } from './context.js';
import type { Breach, Rule } from './rule.js';
import { show } from './rule.js';

const guidance = 'Guidance on Layers';
const reproducibility = 'Reproducibility';

/** Rules on what lies in the layers of the vintages with media types of their own. */
export const layerRules: readonly Rule[] = [
  {
    id: 'MP-09',
    slug: 'raw-layer',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: 'layers', quote: 'The layer is an unarchived, uncompressed model weights file' },
    title: 'a raw layer is the file itself',
    check: ({ layers }) => layers.filter(({ view }) => view.type?.encoding === 'raw').flatMap(judgeRaw),
  },
  {
    id: 'MP-10',
    slug: 'tar-layer',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: 'layers', quote: 'The layer is a tar archive' },
    title: 'a .tar layer is an uncompressed tar archive',
    check: ({ layers }) => layers.filter(({ view }) => isTyped(view.type, 'tar')).flatMap((layer) => judgeEncoding(layer, 'none')),
  },
  {
    id: 'MP-11',
    slug: 'gzip-layer',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: '`+gzip` Media Types', quote: 'payload which has been compressed with gzip' },
    title: 'a .tar+gzip layer is a tar archive compressed with gzip',
    check: ({ layers }) => layers.filter(({ view }) => isTyped(view.type, 'tar+gzip')).flatMap((layer) => judgeEncoding(layer, 'gzip')),
  },
  {
    id: 'MP-12',
    slug: 'zstd-layer',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: '`+zstd` Media Types', quote: 'payload which has been compressed with the zstd algorithm' },
    title: 'a .tar+zstd layer is a tar archive compressed with zstd',
    check: ({ layers }) => layers.filter(({ view }) => isTyped(view.type, 'tar+zstd')).flatMap((layer) => judgeEncoding(layer, 'zstd')),
  },
  {
    id: 'MP-13',
    slug: 'weights-share-layer',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: 'layers', quote: 'If the model has multiple weight files, they SHOULD be packaged into separate layers' },
    title: 'each weight file has a layer of its own',
    check: ({ layers }) =>
      layers
        .filter(({ view }) => view.type?.kind === 'weight')
        .flatMap(({ view, content }) => {
          const files = (content.entries ?? []).filter(({ kind, name }) => kind === 'file' && isWeightsFile(name));
          return files.length < 2
            ? []
            : [
                {
                  where: view.where,
                  message: `It holds ${files.length} weight files: ${files
                    .slice(0, 3)
                    .map(({ name }) => show(name))
                    .join(', ')}`,
                  hint: 'Put each weight file into its own layer, so that each is fetched and shared alone',
                },
              ];
        }),
  },
  {
    id: 'MP-14',
    slug: 'compressed-weights',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: guidance, quote: 'It is recommended to package weight files without compression' },
    title: 'weights are not compressed',
    check: ({ layers }) =>
      layers
        .filter(({ view }) => view.type?.kind === 'weight' && view.type.encoding.includes('+'))
        .map(({ view }) => ({
          where: `${view.where}.mediaType`,
          message: `Weights are compressed with ${view.type?.encoding.slice(4)}, which saves next to nothing and slows every start`,
          hint: 'Pack weights as raw or plain tar layers',
        })),
  },
  {
    id: 'MP-15',
    slug: 'file-attributes',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: 'File Attributes', quote: 'Where supported, MUST include file attributes: mtime, uid, gid, mode' },
    title: 'every file of a tar layer has a mode',
    check: ({ layers }) =>
      eachTar(layers, ({ view, content }) =>
        (content.entries ?? [])
          .filter(({ kind, mode }) => kind === 'file' && (mode & 0o777) === 0)
          .map(({ name }) => ({
            where: `${view.where}, ${name}`,
            message: 'Its mode is 0, so nobody may read it',
            hint: 'Write the tar with a mode, for example 0644',
          })),
      ),
  },
  {
    id: 'MP-16',
    slug: 'user-name',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: 'File Attributes', quote: 'User Name (uname) SHOULD be ignored on platforms that support User ID' },
    title: 'user names in tar layers are ignored',
    notCheckable: 'It asks something of the program that unpacks; modelport gives files to owners by number alone, and only when asked to',
  },
  {
    id: 'MP-17',
    slug: 'group-name',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: 'File Attributes', quote: 'Group Name (gname) SHOULD be ignored on platforms that support Group ID' },
    title: 'group names in tar layers are ignored',
    notCheckable: 'It asks something of the program that unpacks; modelport gives files to groups by number alone, and only when asked to',
  },
  {
    id: 'MP-18',
    slug: 'tar-order',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: reproducibility, quote: 'files SHOULD be added to the archive in lexicographical order' },
    title: 'files stand in a tar layer in lexicographical order',
    check: ({ layers }) => eachTar(layers, judgeOrder),
  },
  {
    id: 'MP-19',
    slug: 'constant-metadata',
    level: 'warning',
    vintages: typedVintages,
    clause: {
      document: 'spec.md',
      section: reproducibility,
      quote: 'File metadata SHOULD be set to known, constant values rather than the current values on disk',
    },
    title: 'times and owners in a tar layer are constants',
    check: ({ layers }) => eachTar(layers, judgeConstants),
  },
  {
    id: 'MP-20',
    slug: 'platform-metadata',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: reproducibility, quote: 'Platform/implementation specific metadata SHOULD be omitted from the archive' },
    title: 'a tar layer holds no metadata of one platform',
    check: ({ layers }) =>
      eachTar(layers, ({ view, content }) =>
        content.platformRecords.length === 0
          ? []
          : [
              {
                where: view.where,
                message: `Its first entry carries ${content.platformRecords.join(', ')}`,
                hint: 'Write the tar without extended attributes and access times',
              },
            ],
      ),
  },
];

type Judge = (layer: LayerState) => readonly Breach[];

function isTyped(type: LayerState['view']['type'], encoding: string): boolean {
  return type !== undefined && type.family !== 'image' && type.encoding === encoding;
}

function eachTar(layers: readonly LayerState[], judge: Judge): Breach[] {
  return layers.filter(({ view }) => view.type !== undefined && view.type.encoding !== 'raw').flatMap(judge);
}

/** A file may be an archive by itself; its name says so then. */
function judgeRaw({ view, path, content }: LayerState): Breach[] {
  const found = content.compression === 'gzip' || content.compression === 'zstd' ? content.compression : content.looksLikeTar ? 'tar' : undefined;
  if (found === undefined || /\.(gz|tgz|zst|zstd|tzst|tar|pth)$/i.test(path ?? '')) return [];
  return [
    {
      where: view.where,
      message: `Its media type says a bare file, its bytes are ${found}, and its path ${show(path)} does not say so`,
      hint: `Use the media type that ends in .${found === 'tar' ? 'tar' : `tar+${found}`}`,
    },
  ];
}

/** What the bytes are against what the media type says; what could not be read is reported elsewhere. */
export function judgeEncoding({ view, content }: LayerState, expected: 'none' | 'gzip' | 'zstd'): Breach[] {
  const { compression, problem } = content;
  if (compression === undefined) return [];
  if (compression !== expected) {
    const named = { none: 'not compressed', gzip: 'gzip', zstd: 'zstd' };
    return [
      {
        where: view.where,
        message: `${view.mediaType} says ${named[expected]}, the bytes are ${named[compression]}`,
        hint: 'Give the layer the media type of its bytes, or encode it again',
      },
    ];
  }
  if (problem === undefined || problem.kind !== 'malformed') return [];
  return [{ where: view.where, message: `It does not hold a tar archive: ${problem.message}`, hint: 'Pack the model again' }];
}

/** By bytes of UTF-8, as sorting tools do; by UTF-16 it comes out the same but for rare characters, which may stand either way. */
function judgeOrder({ view, content }: LayerState): Breach[] {
  const names = (content.entries ?? []).map(({ name }) => name);
  const at = names.findIndex((name, index) => index > 0 && isAfter(names[index - 1] as string, name));
  return at < 0
    ? []
    : [
        {
          where: `${view.where}, ${names[at]}`,
          message: `It stands behind ${show(names[at - 1])}`,
          hint: 'Add files to the tar in the order of their names',
        },
      ];
}

/** By whole names, or folder by folder as a walk of the disk gives them: both are in use. */
function isAfter(first: string, second: string): boolean {
  return Buffer.compare(Buffer.from(first), Buffer.from(second)) > 0 && first.split('/').join('\0') > second.split('/').join('\0');
}

function judgeConstants({ view, content }: LayerState): Breach[] {
  const entries = content.entries ?? [];
  const differs = (['mtime', 'uid', 'gid'] as const).find((key) => new Set(entries.map((entry) => entry[key])).size > 1);
  const fraction = entries.find(({ mtime }) => !Number.isInteger(mtime));
  if (differs === undefined && fraction === undefined) return [];
  return [
    {
      where: view.where,
      message:
        differs === undefined
          ? `The mtime of ${show(fraction?.name)} has a fraction of a second, as only a disk gives it`
          : `${differs} differs from entry to entry`,
      hint: 'Write one constant time and owner 0 for all files',
    },
  ];
}
