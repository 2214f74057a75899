import type { ModelPackage } from '../core/index.js';
import type { InspectResult } from './results.js';

/** Which runtimes can mount this form as a volume, and what mends it where they cannot. (Kubernetes: image volumes) */
export function describeMounts(pkg: ModelPackage): NonNullable<InspectResult['mountable']> {
  if (pkg.format !== 'modelpack') return [];
  const mend = '`modelport pack --hybrid` adds an image-shaped sibling';
  const isImage = pkg.vintage === 'draft-2024';
  const onlyRaw = pkg.parts.length > 0 && pkg.parts.every((part) => part.content.kind === 'blob');
  const crio = (): { yes: boolean; reason: string } => {
    if (isImage) return { yes: true, reason: 'mounted as an ordinary image' };
    if (!onlyRaw) return { yes: false, reason: 'it does not unpack tar layers; pack with --layers raw' };
    return { yes: true, reason: 'mounted as an artifact, each raw layer a file' };
  };
  const imageOnly = isImage ? { yes: true, reason: 'mounted as an ordinary image' } : { yes: false, reason: `it mounts images only; ${mend}` };
  return [
    { runtime: 'containerd', ...imageOnly },
    { runtime: 'cri-o', ...crio() },
    { runtime: 'podman', ...imageOnly },
  ];
}
