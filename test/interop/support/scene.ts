import { join } from 'node:path';
import { type EmbeddedRegistry, startEmbeddedRegistry } from './embedded-registry.js';
import { Layout } from './layouts.js';
import { makeModel, type Model } from './models.js';
import { Workplace } from './workplace.js';

/** The package, and the sibling that image tools can take apart. */
export const sceneTags = ['v1', 'v1-image'] as const;

export type SceneTag = (typeof sceneTags)[number];

/** A registry of ours, a model, and a layout with its package for clients to push from. */
export class Scene {
  private constructor(
    readonly place: Workplace,
    readonly registry: EmbeddedRegistry,
    readonly model: string,
    readonly layout: string,
  ) {}

  /** `prepare` gives the arguments of `serve`, and writes the files that they name. */
  static async open(model: Model, prepare: (place: Workplace) => readonly string[] = () => ['--tmp']): Promise<Scene> {
    const place = new Workplace();
    try {
      const [folder, layout] = [join(place.folder, 'model'), join(place.folder, 'layout')];
      makeModel(model, folder);
      await place.must(['pack', folder, '-o', `oci:${layout}:v1`, '--hybrid']);
      return new Scene(place, await place.open(startEmbeddedRegistry(place, prepare(place))), folder, layout);
    } catch (error) {
      await place.close();
      throw error;
    }
  }

  get host(): string {
    return this.registry.host;
  }

  close(): Promise<void> {
    return this.place.close();
  }

  digest(tag: SceneTag): string {
    return new Layout(this.layout).entry(tag).digest;
  }

  /** Pushes the model itself, and gives the name. */
  async push(name: string): Promise<string> {
    await this.place.must(['push', this.model, `${this.host}/${name}`, '--hybrid']);
    return `${this.host}/${name}`;
  }
}
