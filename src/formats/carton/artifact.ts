import type { BlobSink, Descriptor } from '../../core/index.js';
import type { CartonMembers } from './carton.js';
import { describeCartonToml } from './carton-toml.js';
import { planCopy } from './copy-plan.js';
import { readCartonToml } from './documents.js';
import type { CartonPlan } from './member-plan.js';
import { writeArtifactMembers } from './write-artifact-members.js';
import type { CartonCopyOptions, CartonSink, CartonWritten, ZipSink } from './write-options.js';
import { writeZipMembers } from './write-zip-members.js';

/**
 * A carton, wherever its members lie, as an OCI artifact: MANIFEST byte for byte, so the same model hash. The same members give the same
 * digest. Throws `carton/cannot-write`, `oci/too-large`, `bytes/digest-mismatch` for a member that MANIFEST contradicts, and what reading and the
 * sink throw; the manifest is put last and the caller names it.
 */
export async function writeCartonArtifact(
  members: CartonMembers,
  blobs: BlobSink,
  options: CartonCopyOptions,
): Promise<CartonWritten & { readonly root: Descriptor }> {
  const plan = await planCopy(members, options.limits);
  const toml = await readCartonToml(members, options.limits);
  const annotations = toml.kind === 'read' ? toAnnotations(describeCartonToml(toml.value)) : {};
  return { ...(await writeArtifactMembers({ ...plan, annotations }, blobs, options)), lost: [], findings: [] };
}

/** The same as a file, in the order in which we write; who made the sink commits it. Throws as `writeCartonArtifact`. */
export async function writeCartonZip(members: CartonMembers, sink: ZipSink, options: CartonCopyOptions): Promise<CartonWritten> {
  return { ...(await writeZipMembers(await planCopy(members, options.limits), sink, options)), lost: [], findings: [] };
}

export async function writeMembers(
  plan: CartonPlan,
  sink: CartonSink,
  options: CartonCopyOptions,
): Promise<Omit<CartonWritten, 'lost' | 'findings'>> {
  return sink.kind === 'zip' ? writeZipMembers(plan, sink, options) : writeArtifactMembers(plan, sink.blobs, options);
}

/** What a registry shows of a carton without fetching a member. */
export function toAnnotations(info: { readonly [Key in 'modelName' | 'shortDescription' | 'license']?: string | undefined }): Readonly<
  Record<string, string>
> {
  const fields = { title: info.modelName, description: info.shortDescription, licenses: info.license };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value === undefined || value === '' ? [] : [[`org.opencontainers.image.${key}`, value]])),
  );
}
