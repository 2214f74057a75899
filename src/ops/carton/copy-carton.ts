import { type LinkedPart, type StreamContent } from '../../core/index.js';
import { type CartonWritten, inflateCarton, openMembers, readDocuments, writeCartonArtifact, writeCartonZip } from '../../formats/index.js';
import { asTask, type OpsContext } from '../context.js';
import { openAllLinked, openLinked } from '../linked-files.js';
import type { ProvenFile } from '../proven-cache.js';
import { readSource } from '../package.js';
import type { CopyResult } from '../results.js';
import type { OpenedPackageSource } from '../source.js';
import type { CartonTarget } from './carton-target.js';

/**
 * The same carton in another form: file, folder, artifact. MANIFEST stays as it is, byte for byte, and so does the model hash; with `inflate`
 * what was linked is inside afterwards.
 */
export async function copyCarton(
  source: OpenedPackageSource,
  open: () => Promise<CartonTarget>,
  inflate: boolean,
  given: OpsContext,
): Promise<CopyResult> {
  const context = asTask(given, 'copy');
  const target = await open();
  try {
    const written = await writeTo(source, target, inflate, context);
    const digest = await target.finish(written.root);
    return {
      digest,
      modelHash: written.modelHash,
      name: target.name,
      path: target.path,
      ...(target.repository === null ? {} : { repository: target.repository }),
      bytes: written.bytes,
      lost: [],
      copied: digest === null ? [] : [{ name: target.name, digest }],
    };
  } finally {
    await target.close();
  }
}

async function writeTo(source: OpenedPackageSource, { sink }: CartonTarget, inflate: boolean, context: OpsContext): Promise<CartonWritten> {
  const { limits, progress, concurrency, signal } = context;
  const options = { limits, progress, concurrency, signal };
  if (inflate) {
    const files = await openAllLinked((await readSource(source, context)).pkg.linked ?? [], context);
    const documents = await readDocuments(source, { limits });
    const open = async (part: LinkedPart) => toContent(files.get(part.path) ?? (await openLinked(part, context)));
    return inflateCarton(documents.members, documents, open, sink, options);
  }
  const members = await openMembers(source, { limits });
  return sink.kind === 'zip' ? writeCartonZip(members, sink, options) : writeCartonArtifact(members, sink.blobs, options);
}

function toContent(file: ProvenFile): StreamContent & { readonly size: number } {
  return { kind: 'stream', size: file.size, open: () => file.open() };
}
