import { decompress, judgePath, normalizeEntryName, openPart, type TarEntry } from '../../bytes/index.js';
import type { BlobSource, Compression, Descriptor, Finding, Limits, Part } from '../../core/index.js';
import { type FileMetadata, parseFileMetadata } from './file-metadata.js';
import type { LayerContent } from './layer-content.js';
import type { LayerView } from './manifest-view.js';
import { findLayerPath, pathOf, placeEntries } from './placement.js';
import { toRole } from './roles.js';
import { annotationKeys, draftLayerKeys, formerMetadataKey, type Kind } from './spec.js';

export interface ReadLayer {
  readonly parts: readonly Part[];
  readonly findings: readonly Finding[];
}

/** One layer of a vintage with media types of its own → its files. `content` is undefined for a raw layer, which nobody looked into. */
export function readLayer(layer: LayerView, content: LayerContent | undefined, blobs: BlobSource, limits: Limits): ReadLayer {
  const { descriptor } = layer;
  if (descriptor === undefined) {
    return {
      parts: [],
      findings: [
        {
          level: 'error',
          code: 'modelpack/layer-descriptor',
          rule: 'MP-06',
          message: `Cannot use ${layer.where}: expected mediaType, digest and size`,
          where: layer.where,
          hint: 'Pack the model again',
        },
      ],
    };
  }
  const findings = layer.type === undefined ? [unknownType(layer)] : [];
  if (content?.problem !== undefined)
    return { parts: [wholeLayer(layer, descriptor, blobs)], findings: [...findings, toFinding(layer, content.problem)] };
  const parts =
    content?.entries === undefined
      ? [readRaw(layer, descriptor, blobs, findings)]
      : readMembers(layer, content.entries, { blobs, descriptor, compression: content.compression ?? 'none', limits }, findings);
  for (const { path } of parts) judge(path, layer.where, limits, findings);
  return { parts, findings };
}

function unknownType(layer: LayerView): Finding {
  return {
    level: 'warning',
    code: 'modelpack/layer-media-type',
    rule: 'MP-07',
    message: `${layer.where} has the media type ${JSON.stringify(layer.mediaType)}, which no ModelPack knows; it is taken as one file`,
    where: `${layer.where}.mediaType`,
  };
}

function toFinding(layer: LayerView, problem: NonNullable<LayerContent['problem']>): Finding {
  const level = problem.kind === 'too-large' ? 'note' : 'error';
  return {
    level,
    code: `modelpack/layer-${problem.kind}`,
    message: level === 'note' ? `${problem.message}; it is shown as one file` : problem.message,
    where: layer.where,
  };
}

function judge(path: string, where: string, limits: Limits, findings: Finding[]): void {
  const reason = judgePath(path, limits);
  if (reason !== undefined)
    findings.push({
      level: 'error',
      code: 'modelpack/unsafe-path',
      message: `Cannot use the path ${JSON.stringify(path)}: ${reason}`,
      where,
      hint: 'The package is broken or hostile and will not be unpacked',
    });
}

function readRaw(layer: LayerView, descriptor: Descriptor, blobs: BlobSource, findings: Finding[]): Part {
  const metadata = metadataOf(layer, findings);
  if (metadata.size !== undefined && metadata.size !== descriptor.size) {
    findings.push({
      level: 'warning',
      code: 'modelpack/metadata-size',
      rule: 'MP-A10',
      message: `The file metadata says ${metadata.size} bytes, the layer has ${descriptor.size}`,
      where: layer.where,
    });
  }
  if (findLayerPath(layer.annotations) === undefined) {
    findings.push({
      level: 'warning',
      code: 'modelpack/predefined-keys',
      rule: 'MP-08',
      message: `${layer.where} names no file; it is called ${pathOf(layer)}`,
      where: `${layer.where}.annotations`,
      hint: `Add ${annotationKeys.cncf.filepath} with the path of the file`,
    });
  }
  sayRights(metadata.mode, pathOf(layer), layer.where, findings);
  return {
    ...wholeLayer(layer, descriptor, blobs),
    digest: descriptor.digest,
    ...(metadata.mode === undefined ? {} : { mode: metadata.mode & 0o777 }),
    ...(metadata.mtime === undefined ? {} : { mtime: metadata.mtime }),
  };
}

const setIdBits = 0o6000;

/** Unpacking refuses such a file. */
function sayRights(mode: number | undefined, path: string, where: string, findings: Finding[]): void {
  if (((mode ?? 0) & setIdBits) === 0) return;
  findings.push({
    level: 'error',
    code: 'modelpack/set-id',
    message: `${JSON.stringify(path)} would run with the rights of another user (set-id bit)`,
    where,
    hint: 'The package is broken or hostile and will not be unpacked',
  });
}

function metadataOf(layer: LayerView, findings: Finding[]): FileMetadata {
  const key = [annotationKeys.cncf.metadata, annotationKeys.cnai.metadata, formerMetadataKey].find((each) => layer.annotations[each] !== undefined);
  if (key === undefined) return {};
  const { metadata, problems } = parseFileMetadata(layer.annotations[key] as string);
  const wrong = problems.filter((problem) => !problem.endsWith('is missing'));
  if (wrong.length > 0)
    findings.push({
      level: 'warning',
      code: 'modelpack/file-metadata',
      rule: 'MP-23',
      message: `The file metadata is odd: ${wrong.join('; ')}`,
      where: `${layer.where}.annotations.${key}`,
    });
  return metadata;
}

/** The blob as a file: a raw layer, and a tar that cannot be listed. */
export function wholeLayer(layer: LayerView, descriptor: Descriptor, blobs: BlobSource): Part {
  const path = pathOf(layer);
  return { ...roleOf(layer, path), path, mediaType: layer.mediaType, size: descriptor.size, content: { kind: 'blob', blobs, descriptor } };
}

export function roleOf(layer: LayerView, path: string): Pick<Part, 'role' | 'guessed'> {
  const { cncf, cnai } = annotationKeys;
  const kind = layer.type?.kind ?? draftKindOf(layer);
  const guessed = kind === undefined || layer.annotations[cncf.untested] === 'true' || layer.annotations[cnai.untested] === 'true';
  return { role: toRole(kind, path), ...(guessed ? { guessed } : {}) };
}

/** By the booleans of the draft's layer annotations. */
function draftKindOf({ annotations }: LayerView): Kind | undefined {
  const says = (key: string) => annotations[key] === 'true';
  if (says(draftLayerKeys.weight)) return 'weight';
  if (says(draftLayerKeys['weight.config'])) return 'weight.config';
  return says(draftLayerKeys.readme) || says(draftLayerKeys.license) ? 'doc' : undefined;
}

function readMembers(layer: LayerView, entries: readonly TarEntry[], bytes: LayerBytes, findings: Finding[]): Part[] {
  const place = placeEntries(findLayerPath(layer.annotations), entries);
  sayEncoding(layer, bytes.compression, findings);
  const files = new Map<string, TarEntry>();
  for (const entry of entries) if (entry.kind === 'file') files.set(normalizeEntryName(entry.name), entry);
  return entries.flatMap((entry) => {
    const file = entry.kind === 'hardlink' ? files.get(normalizeEntryName(entry.linkTarget ?? '')) : entry;
    if (entry.kind === 'directory') return [];
    if (file?.kind !== 'file') {
      findings.push({
        level: 'warning',
        code: 'modelpack/odd-entry',
        rule: 'MP-A6',
        message: `${entry.name} is a ${entry.kind}, which is not listed as a file`,
        where: `${layer.where}, ${entry.name}`,
      });
      return [];
    }
    const path = normalizeEntryName(place(entry.name));
    sayRights(file.mode, path, layer.where, findings);
    return [{ ...roleOf(layer, path), path, mediaType: layer.mediaType, ...toMember(bytes, file) }];
  });
}

function sayEncoding(layer: LayerView, compression: Compression, findings: Finding[]): void {
  const said = layer.type?.encoding === 'tar+gzip' ? 'gzip' : layer.type?.encoding === 'tar+zstd' ? 'zstd' : 'none';
  if (said === compression) return;
  findings.push({
    level: 'warning',
    code: 'modelpack/layer-encoding',
    message: `${layer.where} is ${compression === 'none' ? 'not compressed' : compression}, its media type ${layer.mediaType} says otherwise; the bytes are believed`,
    where: `${layer.where}.mediaType`,
  });
}

/** A tar layer whose members can be opened. */
export interface LayerBytes {
  readonly blobs: BlobSource;
  readonly descriptor: Descriptor;
  readonly compression: Compression;
  readonly limits: Limits;
}

/** What a tar entry says of a file, and where its bytes are. */
export function toMember(
  bytes: LayerBytes,
  entry: Pick<TarEntry, 'size' | 'mode' | 'mtime' | 'offset'>,
): Pick<Part, 'size' | 'mode' | 'mtime' | 'content'> {
  const { blobs, descriptor, compression, limits } = bytes;
  const { size, mode, mtime, offset } = entry;
  if (compression === 'none') return { size, mode: mode & 0o777, mtime, content: { kind: 'slice', blobs, descriptor, offset, size } };
  const whole = async () => decompress(await blobs.open(descriptor), compression, { limits, where: descriptor.digest });
  const open = () => openPart({ kind: 'stream', open: whole }, { start: offset, end: offset + size });
  return { size, mode: mode & 0o777, mtime, content: { kind: 'stream', open } };
}
