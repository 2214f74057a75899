import { join } from 'node:path';
import { makeFolder, removeFolder } from './folders.js';
import { makeModel, type Model } from './models.js';
import { Modelport } from './modelport.js';

/** What a model is packed as: the vintages of ModelPack, and the sibling that looks like a container image. */
export const forms = ['cncf', 'cnai', 'draft-2024', 'cncf-image'] as const;

export type Form = (typeof forms)[number];

/** The forms that image tools can take apart. */
export const imageForms = ['draft-2024', 'cncf-image'] as const;

/** Where packages lie. All three are OCI image layouts, the archive as one file. */
export const places = ['store', 'layout', 'archive'] as const;

export type Place = (typeof places)[number];

/** `oci:DIR:TAG` or `oci-archive:FILE:TAG`, the spelling of skopeo, podman and modelport. */
export interface Spot {
  readonly path: string;
  readonly tag: string;
  readonly location: string;
}

/** A temporary folder with models and packages of them, each made when it is first asked for. */
export class Shelf {
  readonly folder = makeFolder();
  readonly modelport = new Modelport(join(this.folder, 'store'));
  readonly #made = new Set<string>();
  #scratch = 0;

  close(): void {
    removeFolder(this.folder);
  }

  /** A path where nothing stands yet. */
  path(name = 'scratch'): string {
    this.#scratch++;
    return join(this.folder, `${this.#scratch}-${name}`);
  }

  model(model: Model): string {
    const folder = join(this.folder, model);
    this.#once(folder, () => makeModel(model, folder));
    return folder;
  }

  /** `options` go to `pack`; each set of them has its own package. */
  package(model: Model, form: Form, place: Place, options: readonly string[] = []): Spot {
    const vintage = form === 'cncf-image' ? 'cncf' : form;
    const variant = [vintage, ...options.map((option) => option.replace(/\W+/g, '-'))].join('-').toLowerCase();
    const spot = this.#spot(model, variant, place);
    this.#once(spot.location, () => {
      const target = place === 'store' ? ['-t', spot.tag] : ['-o', spot.location];
      const hybrid = form.startsWith('cncf') ? ['--hybrid'] : [];
      this.modelport.must(['pack', this.model(model), '--vintage', vintage, ...hybrid, ...options, ...target]);
    });
    return form === 'cncf-image' ? { path: spot.path, tag: `${spot.tag}-image`, location: `${spot.location}-image` } : spot;
  }

  #spot(model: Model, variant: string, place: Place): Spot {
    const tag = place === 'store' ? `demo/${model}:${variant}` : variant;
    const path = { store: this.modelport.home, layout: join(this.folder, `${model}-layout`), archive: join(this.folder, `${model}-${variant}.tar`) }[
      place
    ];
    return { path, tag, location: `${place === 'archive' ? 'oci-archive' : 'oci'}:${path}:${tag}` };
  }

  #once(key: string, make: () => void): void {
    if (this.#made.has(key)) return;
    make();
    this.#made.add(key);
  }
}
