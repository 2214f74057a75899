import { sha256 } from '../ask-registry.js';
import { type Blob, carryOut, change, type Ledger, type Manifest, toBlob } from './ledger.js';
import { config, makeIndex, makeManifest } from './manifests.js';
import { askSize, beginUpload, pushBlob, pushStyles, putManifest, resumeUpload, sendPiece, toPiece } from './pushing.js';
import type { Random } from './random.js';
import { assertStatus, type Wire } from './wire.js';

/** What all clients push to, at one time: blobs and a tag that they contend for. Nothing is deleted there. */
export interface Common {
  readonly ledger: Ledger;
  readonly blobs: readonly Blob[];
}

const tags = ['v1', 'v2', 'v3', 'latest'] as const;
const contested = 'contested';

/**
 * Mostly small ones; a few that take a while, and are hashed in a thread. None may arrive as a single byte: of an upload with one byte a registry says
 * the same as of one with none.
 */
const sizes = [40, 300, 4000, 4000, 70_000, 70_000, 70_000, 300_000, 300_000, 1_500_000, 9_000_000] as const;

type Operation = (wire: Wire) => Promise<unknown>;

/** Does one thing after the other in a repository of its own, whose ledger says what has been acknowledged. */
export class CrashClient {
  #count = 0;

  constructor(
    readonly ledger: Ledger,
    private readonly common: Common,
    private readonly random: Random,
  ) {}

  /** Until a request is not answered, or answered wrongly: that is thrown. */
  async work(wire: Wire): Promise<never> {
    for (;;) await this.#operations[this.random.below(this.#operations.length)]?.(wire);
  }

  /** What is done more often stands there more often. */
  readonly #operations: readonly Operation[] = [
    (wire) => this.#pushPackage(wire),
    (wire) => this.#pushPackage(wire),
    (wire) => this.#pushPackage(wire),
    (wire) => this.#pushSingleBlob(wire),
    (wire) => this.#pushCommonBlob(wire),
    (wire) => this.#pushContested(wire),
    (wire) => this.#retag(wire),
    (wire) => this.#pushIndex(wire),
    (wire) => this.#attach(wire),
    (wire) => this.#mount(wire),
    (wire) => this.#leaveUpload(wire),
    (wire) => this.#leaveUpload(wire),
    (wire) => this.#resume(wire),
    (wire) => this.#endUploadWrongly(wire),
    (wire) => this.#deleteTag(wire),
    (wire) => this.#deleteManifest(wire),
    (wire) => this.#deleteBlob(wire),
    (wire) => this.#read(wire),
  ];

  async #pushPackage(wire: Wire): Promise<void> {
    const layers = [await this.#pushSingleBlob(wire), ...this.#some(this.ledger.listBlobs(), 2)];
    await this.#put(wire, await this.#make(wire, layers));
  }

  async #pushSingleBlob(wire: Wire): Promise<Blob> {
    const blob = toBlob(this.random.bytes(this.random.find(sizes) ?? 1));
    await this.#push(wire, this.ledger, blob);
    return blob;
  }

  async #pushCommonBlob(wire: Wire): Promise<void> {
    const blob = this.random.find(this.common.blobs);
    if (blob !== undefined) await this.#push(wire, this.common.ledger, blob);
  }

  /** Of those who set one tag at one time any may be the last. */
  async #pushContested(wire: Wire): Promise<void> {
    const { ledger } = this.common;
    for (const blob of [config, ...this.common.blobs.slice(0, 1)]) await this.#push(wire, ledger, blob);
    const manifest = makeManifest(this.common.blobs.slice(0, 1), this.#mark());
    const possible = ledger.tag(contested).add(manifest.digest);
    await carryOut([change(ledger.manifest(manifest), true)], () => putManifest(wire, ledger.repository, manifest, contested));
    possible.delete(undefined);
  }

  async #retag(wire: Wire): Promise<void> {
    const manifest = this.random.find(this.ledger.listManifests());
    if (manifest !== undefined) await this.#put(wire, manifest);
  }

  async #pushIndex(wire: Wire): Promise<void> {
    const listed = this.#some(this.ledger.listManifests(), 3);
    if (listed.length > 0) await this.#put(wire, makeIndex(listed, this.#mark()));
  }

  async #attach(wire: Wire): Promise<void> {
    const subject = this.random.find(this.ledger.listManifests());
    if (subject === undefined) return;
    const manifest = await this.#make(wire, this.#some(this.ledger.listBlobs(), 1), subject);
    await carryOut([change(this.ledger.manifest(manifest), true)], () => putManifest(wire, this.ledger.repository, manifest, manifest.digest));
  }

  async #mount(wire: Wire): Promise<void> {
    const blob = this.random.find(this.common.ledger.listBlobs());
    if (blob === undefined) return;
    const from = this.random.chance(0.5) ? `&from=${this.common.ledger.repository}` : '';
    await carryOut([change(this.ledger.blob(blob), true)], async () => {
      const answer = await wire.ask('POST', `/v2/${this.ledger.repository}/blobs/uploads/?mount=${blob.digest}${from}`);
      assertStatus(answer, 201);
    });
  }

  /** Sends some of it, and perhaps breaks off in the middle of a piece. */
  async #leaveUpload(wire: Wire): Promise<void> {
    const blob = toBlob(this.random.bytes(100_000 + this.random.below(400_000)));
    const upload = await beginUpload(wire, this.ledger, blob);
    const end = 70_000 + this.random.below(20_000);
    await sendPiece(wire, upload, 0, end);
    if (this.random.chance(0.5)) return;
    const { headers, body } = toPiece(blob, end, blob.bytes.byteLength);
    upload.sent = blob.bytes.byteLength;
    await wire.cut('PATCH', upload.location, headers, body);
  }

  async #resume(wire: Wire): Promise<void> {
    const upload = this.random.find([...this.ledger.uploads]);
    if (upload === undefined) return;
    const size = await askSize(wire, upload);
    if (size === undefined || size < upload.acknowledged || size > upload.sent) {
      throw new Error(`The upload ${upload.location} has ${size} bytes: ${upload.acknowledged} were acknowledged, ${upload.sent} sent`);
    }
    await carryOut([change(this.ledger.blob(upload.blob), true)], () => resumeUpload(wire, this.ledger, upload, size));
  }

  /** With another digest, or by cancelling it: nothing comes of it. */
  async #endUploadWrongly(wire: Wire): Promise<void> {
    const upload = await beginUpload(wire, this.ledger, toBlob(this.random.bytes(5000)));
    await sendPiece(wire, upload, 0, 5000);
    this.ledger.blob(upload.blob);
    upload.isEnding = true;
    if (this.random.chance(0.5)) assertStatus(await wire.ask('DELETE', upload.location), 204);
    else assertStatus(await wire.ask('PUT', `${upload.location}?digest=${sha256(this.#mark())}`), 400);
    this.ledger.uploads.delete(upload);
  }

  async #deleteTag(wire: Wire): Promise<void> {
    const tag = this.random.find(this.ledger.listTags().map(([name]) => name));
    if (tag !== undefined) await this.#delete(wire, tag, [change(this.ledger.tag(tag), undefined)]);
  }

  /** With all its tags. What an index lists has to stay. */
  async #deleteManifest(wire: Wire): Promise<void> {
    const { ledger } = this;
    const manifest = this.random.find(ledger.listManifests().filter(({ digest }) => !ledger.isNamed(digest)));
    if (manifest === undefined) return;
    const untagged = ledger.listTags().filter(([, digest]) => digest === manifest.digest);
    const changes = untagged.map(([tag]) => change(ledger.tag(tag), undefined));
    await this.#delete(wire, manifest.digest, [change(ledger.manifest(manifest), false), ...changes]);
  }

  async #deleteBlob(wire: Wire): Promise<void> {
    const { ledger } = this;
    const blob = this.random.find(ledger.listBlobs().filter(({ digest }) => !ledger.isNamed(digest)));
    if (blob === undefined) return;
    await carryOut([change(ledger.blob(blob), false)], async () =>
      assertStatus(await wire.ask('DELETE', `/v2/${ledger.repository}/blobs/${blob.digest}`), 202),
    );
  }

  async #read(wire: Wire): Promise<void> {
    const blob = this.random.find(this.ledger.listBlobs());
    if (blob === undefined) return;
    const answer = await wire.ask('GET', `/v2/${this.ledger.repository}/blobs/${blob.digest}`);
    assertStatus(answer, 200);
    if (!answer.body.equals(blob.bytes)) throw new Error(`${answer.asked} gave other bytes than were pushed`);
  }

  async #push(wire: Wire, ledger: Ledger, blob: Blob): Promise<void> {
    const style = this.random.find(pushStyles) ?? 'single post';
    await carryOut([change(ledger.blob(blob), true)], () => pushBlob(wire, ledger, blob, style));
  }

  async #make(wire: Wire, layers: readonly Blob[], subject?: Manifest): Promise<Manifest> {
    if (this.ledger.blob(config).has(false)) await this.#push(wire, this.ledger, config);
    return makeManifest(layers, this.#mark(), subject);
  }

  /** By tag, by digest, or by digest with tags. */
  async #put(wire: Wire, manifest: Manifest): Promise<void> {
    const { ledger, random } = this;
    const chosen = this.#some(tags, 2);
    const byDigest = chosen.length !== 1 || random.chance(0.3);
    const changes = chosen.map((tag) => change(ledger.tag(tag), manifest.digest));
    await carryOut([change(ledger.manifest(manifest), true), ...changes], () =>
      putManifest(wire, ledger.repository, manifest, byDigest ? manifest.digest : chosen.join(''), byDigest ? chosen : []),
    );
  }

  async #delete(wire: Wire, reference: string, changes: readonly ReturnType<typeof change>[]): Promise<void> {
    await carryOut(changes, async () => assertStatus(await wire.ask('DELETE', `/v2/${this.ledger.repository}/manifests/${reference}`), 202));
  }

  /** Up to `most` of them, none twice. */
  #some<T>(list: readonly T[], most: number): T[] {
    const count = this.random.below(most + 1);
    return [...new Set(Array.from({ length: count }, () => this.random.find(list)))].filter((each) => each !== undefined);
  }

  #mark(): string {
    this.#count += 1;
    return `${this.ledger.repository} ${this.random.seed} ${this.#count}`;
  }
}
