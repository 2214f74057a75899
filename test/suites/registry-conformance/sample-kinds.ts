import { type Algorithm, digestOf, type ImageTraits, mediaTypes, Sample, type SampleDescriptor, toDescriptor } from './sample.js';

export interface SampleKind {
  readonly name: string;
  /** By which everything is named; sha256 without it. */
  readonly algorithm?: Algorithm;
  /** Tags are set by parameters of a put by digest, which only the main branch of the specification knows. */
  readonly tagParams?: boolean;
  readonly fill: (sample: Sample) => void;
}

function artifactTraits(sample: Sample, artifactType: string, layerType = artifactType): ImageTraits {
  const config = sample.blob(mediaTypes.emptyJson, Buffer.from('{}'));
  return { artifactType, config, layers: [sample.blob(layerType, sample.freshBytes(2048))] };
}

/** Annotations that a list of referrers has to repeat. */
function remarks(sample: Sample): Readonly<Record<string, string>> {
  return { 'org.example.remark': 'attached', [`org.example.${sample.freshBytes(4).toString('hex')}`]: sample.freshBytes(8).toString('hex') };
}

function fillWithLargeManifest(sample: Sample): void {
  const annotations = Object.fromEntries(Array.from({ length: 390 }, (_, at) => [`org.example.large.${at}`, 'A'.repeat(10_000)]));
  sample.tag('large-manifest', sample.image({ annotations }));
}

function fillWithAttachments(sample: Sample): void {
  const subject = toDescriptor(sample.image());
  sample.tag('subject', sample.manifests[0]!);
  sample.image({ subject });
  const first = sample.image({ ...artifactTraits(sample, mediaTypes.exhibit), subject, annotations: remarks(sample) });
  const second = sample.image({ ...artifactTraits(sample, mediaTypes.otherExhibit, mediaTypes.bytes), subject, annotations: remarks(sample) });
  sample.tag('attached-1', first);
  sample.tag('attached-2', second);
}

/** Layers that are to be had elsewhere are named and never pushed. */
function fillWithForeignLayers(sample: Sample): void {
  const foreign = (mediaType: string, size: number): SampleDescriptor => {
    const digest = digestOf(sample.freshBytes(256));
    return { mediaType, digest, size, urls: [`https://blobs.example.com/${digest.replace(':', '/')}`] };
  };
  const layers = [foreign(mediaTypes.foreignTarGzip, 123_456), foreign(mediaTypes.foreignTar, 12_345), sample.layer()];
  sample.tag('foreign-layers', sample.image({ layers }));
}

function fillWithNestedIndex(sample: Sample): void {
  sample.tag('index-of-indexes', sample.index([sample.fullIndex(), sample.fullIndex()].map(toDescriptor)));
}

function fillWithArtifactIndex(sample: Sample): void {
  const images = () => artifactTraits(sample, mediaTypes.exhibit);
  sample.tag('artifact-index', sample.fullIndex({ artifactType: mediaTypes.exhibit }, images));
}

function fillWithAttachedIndex(sample: Sample): void {
  const subject = sample.fullIndex();
  sample.tag('subject', subject);
  const traits = { artifactType: mediaTypes.exhibit, subject: toDescriptor(subject), annotations: remarks(sample) };
  sample.tag(
    'attached',
    sample.fullIndex(traits, () => artifactTraits(sample, mediaTypes.exhibit)),
  );
}

function fillWithMissingSubject(sample: Sample): void {
  const subject = { mediaType: mediaTypes.image, digest: digestOf(sample.freshBytes(123)), size: 123 };
  sample.tag('attached', sample.image({ ...artifactTraits(sample, mediaTypes.exhibit), subject, annotations: remarks(sample) }));
}

function fillWithArtifactOfNothing(sample: Sample): void {
  const nothing = sample.blob(mediaTypes.emptyJson, Buffer.from('{}'));
  sample.tag('no-content', sample.image({ artifactType: mediaTypes.exhibit, config: nothing, layers: [nothing] }));
}

/** As many tags as manifests, and two of them for the topmost. */
function fillWithTags(sample: Sample): void {
  sample.tag(`all-${sample.algorithm}`, sample.fullIndex());
  for (const [at, manifest] of sample.manifests.entries()) sample.tag(`all-${sample.algorithm}-${at}`, manifest);
}

const kinds: readonly SampleKind[] = [
  { name: 'image', fill: (sample) => sample.tag('image', sample.image()) },
  { name: 'uncompressed image', fill: (sample) => sample.tag('image', sample.image({ layers: [sample.layer('none'), sample.layer('none')] })) },
  { name: 'large manifest', fill: fillWithLargeManifest },
  { name: 'index', fill: (sample) => sample.tag('index', sample.fullIndex()) },
  { name: 'nested index', fill: fillWithNestedIndex },
  { name: 'empty index', fill: (sample) => sample.tag('index', sample.index([])) },
  { name: 'artifact', fill: (sample) => sample.tag('artifact', sample.image(artifactTraits(sample, mediaTypes.exhibit))) },
  { name: 'artifact index', fill: fillWithArtifactIndex },
  { name: 'artifact without layers', fill: fillWithArtifactOfNothing },
  { name: 'artifacts with subject', fill: fillWithAttachments },
  { name: 'index with subject', fill: fillWithAttachedIndex },
  { name: 'missing subject', fill: fillWithMissingSubject },
  { name: 'data field', fill: (sample) => sample.tag('embedded', sample.image({ embedded: true })) },
  { name: 'nondistributable layers', fill: fillWithForeignLayers },
  {
    name: 'custom fields',
    fill: (sample) =>
      sample.tag(
        'custom-fields',
        sample.fullIndex({ customField: true }, () => ({ customField: true })),
      ),
  },
  { name: 'no layers', fill: (sample) => sample.tag('no-layers', sample.image({ layers: [] })) },
  { name: 'sha512', algorithm: 'sha512', fill: (sample) => void sample.fullIndex() },
  { name: 'tag params sha256', tagParams: true, fill: fillWithTags },
  { name: 'tag params sha512', tagParams: true, algorithm: 'sha512', fill: fillWithTags },
];

/** Every kind of content that is pushed whole. */
export function listSampleKinds(version: '1.1' | 'dev'): readonly SampleKind[] {
  return kinds.filter(({ tagParams }) => version === 'dev' || tagParams !== true);
}

export function makeSample({ name, algorithm, fill }: SampleKind): Sample {
  const sample = new Sample(name, algorithm);
  fill(sample);
  return sample;
}
