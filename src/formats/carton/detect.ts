import { defaultLimits, type Detection, type FilesSource, isToolkitError, type OciSource, type PackageSource } from '../../core/index.js';
import { parseManifest } from '../../oci/index.js';
import { artifactType, manifestName, tomlName } from './spec.js';

/** What gives a carton away: its two documents at the top, or its artifact type; undefined for everything else. */
export async function detect(source: PackageSource): Promise<(Detection & { readonly vintage: 'v1' }) | undefined> {
  const because = source.kind === 'files' ? detectFiles(source) : detectArtifact(source);
  return because === undefined ? undefined : { vintage: 'v1', because };
}

/** A folder with carton.toml alone may be a model that is still to be packed; a zip with it is a carton that lacks something. */
function detectFiles({ tree }: FilesSource): string | undefined {
  const holds = (path: string) => tree.entries.some((entry) => entry.path === path && entry.kind !== 'directory');
  if (!holds(tomlName)) return undefined;
  if (holds(manifestName)) return `it holds ${tomlName} and ${manifestName}`;
  return tree.entries.some(({ packed }) => packed !== undefined) ? `it is a zip that holds ${tomlName}` : undefined;
}

function detectArtifact(source: OciSource): string | undefined {
  try {
    const parsed = parseManifest(source.bytes, source.location, defaultLimits);
    return parsed.kind === 'manifest' && parsed.manifest.artifactType === artifactType ? `artifactType is ${artifactType}` : undefined;
  } catch (error) {
    if (isToolkitError(error)) return undefined;
    throw error;
  }
}
