import { type AddedSamples, addSamples, readDocuments } from '../../formats/index.js';
import type { Finding } from '../../core/index.js';
import { openCartonDestination } from '../carton/carton-target.js';
import { asTask, type OpsContext } from '../context.js';
import type { SamplesWritten } from '../results.js';
import type { RecordTarget } from './record-target.js';

/** A new carton with the samples in it. Every other member goes over as it is, read once. */
export async function recordInCarton(
  { source, to }: RecordTarget & { readonly kind: 'carton' },
  added: AddedSamples,
  given: OpsContext,
): Promise<Omit<SamplesWritten, 'kind' | 'samples'> & { readonly findings: readonly Finding[] }> {
  const context = asTask(given, 'record');
  const { limits, progress, concurrency, signal } = context;
  const documents = await readDocuments(source, { limits });
  const target = await openCartonDestination(to, context);
  try {
    const { root, modelHash, findings } = await addSamples(documents.members, documents, added, target.sink, {
      limits,
      progress,
      concurrency,
      signal,
    });
    return { digest: await target.finish(root), modelHash, name: target.name, path: target.path, findings };
  } finally {
    await target.close();
  }
}
