import { type Bench } from '../bench.js';
import { pushSample } from '../push-sample.js';
import { Sample, type SampleManifest } from '../sample.js';

/** One rule that the official suite does not look at. It can be tried by itself, and throws when the registry is wrong. */
export interface BeyondCell {
  readonly area: string;
  readonly rule: string;
  readonly run: (bench: Bench) => Promise<void>;
}

/** Rules of one area; every one gets a repository of its own that has nothing yet. */
export function toBeyondCells(area: string, rules: Readonly<Record<string, (bench: Bench, repository: string) => Promise<void>>>): BeyondCell[] {
  return Object.entries(rules).map(([rule, check], at) => ({
    area,
    rule,
    run: (bench) => check(bench, `beyond/${area.replaceAll(' ', '-')}/${at}`),
  }));
}

/** An image that no other repository has, pushed whole under the tags. */
export async function pushImage(bench: Bench, repository: string, ...tags: readonly string[]): Promise<SampleManifest> {
  const sample = new Sample(`${repository} ${tags.join(' ')}`);
  const image = sample.image();
  for (const tag of tags) sample.tag(tag, image);
  await pushSample(bench, repository, sample);
  return image;
}
