import { findTwins, judgePath, normalizeEntryName } from '../../../bytes/index.js';
import { isJsonObject } from '../../../core/index.js';
import { parseFileMetadata } from '../file-metadata.js';
import { placeEntries } from '../placement.js';
import { isWeightsFile } from '../roles.js';
import { titleKey, vintages } from '../spec.js';
import { checkMetadata } from './annotations.js';
import { listFormerNames } from './config.js';
import { type LayerState, type RuleContext, typedVintages } from './context.js';
import { type Breach, type Rule, show } from './rule.js';

const shownBytes = 4 * 1024 * 1024;

/** Not in the specification: what registries and strict readers refuse or mishandle. */
export const adviceRules: readonly Rule[] = [
  {
    id: 'MP-A1',
    slug: 'manifest-size',
    level: 'warning',
    vintages,
    clause: { document: 'practice', section: 'Pushing Manifests', quote: 'registries are asked to take 4,000,000 bytes, and many stop at 4 MiB' },
    title: 'the manifest is small enough for every registry',
    check: ({ manifestBytes, limits }) =>
      manifestBytes <= limits.writtenManifestBytes
        ? []
        : [
            {
              where: 'manifest',
              message: `It is ${manifestBytes} bytes long, and registries need take no more than ${limits.writtenManifestBytes}`,
              hint: 'Put many small files into one tar layer',
            },
          ],
  },
  {
    id: 'MP-A2',
    slug: 'shown-document',
    level: 'note',
    vintages: typedVintages,
    clause: {
      document: 'practice',
      section: 'registries that show models',
      quote: 'README and LICENSE are shown from an uncompressed doc layer of at most 4 MiB',
    },
    title: 'README and LICENSE can be shown by registries',
    check: ({ layers }) => layers.flatMap(judgeShown),
  },
  {
    id: 'MP-A3',
    slug: 'same-path',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'practice', section: 'unpacking', quote: 'two files cannot stand under one path' },
    title: 'no two files have the same path',
    check: (context) =>
      judgeTwins(
        context,
        (kind) => kind === 'duplicate' || kind === 'file-and-folder',
        'Only one of them can be unpacked',
        'Give each file its own path',
      ),
  },
  {
    id: 'MP-A4',
    slug: 'folding-path',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'practice', section: 'unpacking', quote: 'file systems that ignore case or Unicode form' },
    title: 'paths differ in more than case or Unicode form',
    check: (context) =>
      judgeTwins(context, (kind) => kind === 'case' || kind === 'unicode', 'They are one path on Windows and macOS', 'Rename one of them'),
  },
  {
    id: 'MP-A5',
    slug: 'unsafe-entry',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'practice', section: 'unpacking', quote: 'a file of a package stays inside the target' },
    title: 'files in tar layers stay inside the model',
    check: ({ layers, limits }) =>
      layers.flatMap(({ view, content }) => (content.entries ?? []).flatMap(({ name }) => judgeEntry(view.where, name, limits))),
  },
  {
    id: 'MP-A6',
    slug: 'odd-entry',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'practice', section: 'unpacking', quote: 'most readers know files and folders only' },
    title: 'tar layers hold files and folders only',
    check: ({ layers }) =>
      layers.flatMap(({ view, content }) =>
        (content.entries ?? [])
          .filter(({ kind, mode }) => (kind === 'file' ? (mode & 0o6000) !== 0 : kind !== 'directory'))
          .map(({ name, kind }) => ({
            where: `${view.where}, ${name}`,
            message: `It is a ${kind === 'file' ? 'file with a set-id bit' : kind}, which many readers drop or refuse`,
            hint: 'Store a plain file instead',
          })),
      ),
  },
  {
    id: 'MP-A7',
    slug: 'former-name',
    level: 'warning',
    vintages: ['cnai'],
    clause: { document: 'practice', section: 'releases', quote: 'v0.0.7 renamed diff_ids, parameterSize, input_types and others' },
    title: 'config fields have their present names',
    check: (context) =>
      listFormerNames(context).map(({ where, name }) => ({
        where: `config blob, ${where}`,
        message: `It is an earlier name of ${name}`,
        hint: `Rename it to ${name}`,
      })),
  },
  {
    id: 'MP-A8',
    slug: 'title',
    level: 'note',
    vintages: typedVintages,
    clause: { document: 'practice', section: 'readers of plain artifacts', quote: `oras, podman and CRI-O name files by ${titleKey} alone` },
    title: 'raw layers have their path as title too',
    check: ({ layers, keys }) =>
      layers
        .filter(
          ({ view }) =>
            view.type?.encoding === 'raw' &&
            view.annotations[keys.filepath] !== undefined &&
            view.annotations[titleKey] !== view.annotations[keys.filepath],
        )
        .map(({ view, path }) => ({
          where: `${view.where}.annotations.${titleKey}`,
          message: `Expected ${show(path)}, found ${show(view.annotations[titleKey])}`,
          hint: `Set ${titleKey} to the same path`,
        })),
  },
  {
    id: 'MP-A9',
    slug: 'incomplete-metadata',
    level: 'note',
    vintages: typedVintages,
    clause: { document: 'practice', section: 'strict readers', quote: 'some refuse file metadata without all seven fields' },
    title: 'file metadata has all seven fields',
    check: (context) => checkMetadata(context, (problem) => problem.endsWith('is missing')),
  },
  {
    id: 'MP-A10',
    slug: 'metadata-size',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'practice', section: 'file metadata', quote: 'the size of a raw layer is the size of its file' },
    title: 'file metadata gives the size of the raw layer',
    check: ({ layers, keys }) => layers.flatMap(({ view }) => judgeMetadataSize(view, keys.metadata)),
  },
  {
    id: 'MP-A11',
    slug: 'entry-against-filepath',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'practice', section: 'tar layers', quote: 'filepath is the path of the entry, or of the folder that holds all entries' },
    title: 'the one file of a tar layer is the one that filepath names',
    check: ({ layers }) => layers.flatMap(judgeEntryPath),
  },
  {
    id: 'MP-A12',
    slug: 'weights-of-other-kind',
    level: 'warning',
    vintages: typedVintages,
    clause: {
      document: 'practice',
      section: 'sharded models',
      quote: 'one tool writes later shards as weight.config; others look for weights by kind',
    },
    title: 'weight files are in layers of the kind weight',
    check: ({ layers }) => layers.flatMap(judgeKind),
  },
  {
    id: 'MP-A13',
    slug: 'image-diff-ids',
    level: 'warning',
    vintages: ['draft-2024'],
    clause: { document: 'practice', section: 'container runtimes', quote: 'a config without one rootfs.diff_id a layer is refused' },
    title: 'the image config lists one diff_id a layer',
    check: ({ config, view }) => {
      if (config.kind === 'absent')
        return [
          {
            where: 'config',
            message: `Cannot reach the image config: ${config.reason}`,
            hint: 'Add an image config, so that runtimes can mount the package',
          },
        ];
      const rootfs = config.kind === 'json' ? config.json['rootfs'] : undefined;
      const found = isJsonObject(rootfs) ? rootfs['diff_ids'] : undefined;
      return Array.isArray(found) && found.length === view.layers.length
        ? []
        : [
            {
              where: 'config blob, rootfs.diff_ids',
              message: `Expected ${view.layers.length}, one a layer, found ${Array.isArray(found) ? found.length : show(found)}`,
              hint: 'List the digest of each layer before compression',
            },
          ];
    },
  },
];

/** Data sets may be in the formats of weights. */
function judgeKind({ view, path, content }: LayerState): Breach[] {
  const kind = view.type?.kind;
  if (kind === undefined || kind === 'weight' || kind === 'dataset') return [];
  const names = view.type?.encoding === 'raw' ? [path ?? ''] : (content.entries ?? []).map(({ name }) => name);
  return names.filter(isWeightsFile).map((name) => ({
    where: `${view.where}.mediaType`,
    message: `${show(name)} looks like weights, its layer is of the kind ${kind}`,
    hint: 'Give it the media type of a weight layer',
  }));
}

function judgeShown({ view, path }: LayerState): Breach[] {
  const name = path ?? '';
  if (view.type?.kind !== 'doc' || !/^(readme(\.md)?|licen[cs]e(\.txt)?)$/i.test(name)) return [];
  const size = view.descriptor?.size ?? 0;
  if (view.type.encoding.includes('+'))
    return [
      { where: `${view.where}.mediaType`, message: `${name} is compressed, so registries do not show it`, hint: 'Pack it raw or as plain tar' },
    ];
  return size <= shownBytes
    ? []
    : [
        {
          where: view.where,
          message: `${name} is ${size} bytes long; registries show at most ${shownBytes}`,
          hint: 'Shorten it, and put the rest into another document',
        },
      ];
}

function listPaths({ layers }: RuleContext): { path: string; where: string }[] {
  return layers.flatMap(({ view, path, content }) => {
    if (view.type?.encoding === 'raw') return path === undefined ? [] : [{ path: normalizeEntryName(path), where: view.where }];
    const place = placeEntries(path, content.entries);
    return (content.entries ?? [])
      .filter(({ kind }) => kind === 'file')
      .map(({ name }) => ({ path: normalizeEntryName(place(name)), where: `${view.where}, ${name}` }));
  });
}

function judgeTwins(context: RuleContext, isMeant: (kind: string) => boolean, message: string, hint: string): Breach[] {
  const paths = listPaths(context);
  const places = new Map(paths.map(({ path, where }) => [path, where]));
  return findTwins(paths.map(({ path }) => path))
    .filter(({ kind }) => isMeant(kind))
    .map(({ first, second }) => ({ where: places.get(second) ?? 'layers', message: `${show(first)} and ${show(second)}: ${message}`, hint }));
}

function judgeEntry(layer: string, name: string, limits: RuleContext['limits']): Breach[] {
  const path = normalizeEntryName(name);
  const reason = path === '' ? undefined : judgePath(path, limits);
  return reason === undefined
    ? []
    : [
        {
          where: `${layer}, ${name}`,
          message: `The entry ${show(name)} cannot be used: ${reason}`,
          hint: 'Write relative paths with / between their parts',
        },
      ];
}

function judgeMetadataSize(view: LayerState['view'], key: string): Breach[] {
  const text = view.annotations[key];
  const size = text === undefined ? undefined : parseFileMetadata(text).metadata.size;
  if (view.type?.encoding !== 'raw' || size === undefined || view.descriptor === undefined || size === view.descriptor.size) return [];
  return [
    {
      where: `${view.where}.annotations.${key}`,
      message: `Expected the size ${view.descriptor.size}, found ${size}`,
      hint: 'Write the size of the file',
    },
  ];
}

function judgeEntryPath({ view, path, content }: LayerState): Breach[] {
  const files = (content.entries ?? []).filter(({ kind }) => kind === 'file');
  const name = normalizeEntryName(files[0]?.name ?? '');
  if (files.length !== 1 || path === undefined || view.type?.encoding === 'raw') return [];
  const wanted = normalizeEntryName(path);
  const fits = name === wanted || name === wanted.slice(wanted.lastIndexOf('/') + 1) || !/\.[a-z0-9]+$/i.test(wanted);
  return fits
    ? []
    : [
        {
          where: `${view.where}, ${name}`,
          message: `Its filepath is ${show(path)}, its only file ${show(name)}`,
          hint: 'Let filepath and the name in the tar agree',
        },
      ];
}
