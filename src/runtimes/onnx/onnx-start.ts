import type { Finding, RuntimeEnvironment } from '../../core/index.js';
import type { FoundEngine } from './find-engine.js';
import type { GraphPlan } from './open-graph.js';

/** All that is settled before a graph is loaded, in whichever process. */
export interface OnnxStart {
  /** What the model is called in messages. */
  readonly location: string;
  /** The model's folder; absolute. */
  readonly folder: string;
  readonly engine: FoundEngine & { readonly kind: 'found' };
  readonly plan: GraphPlan;
  readonly findings: readonly Finding[];
  readonly environment: RuntimeEnvironment;
  readonly timeoutMs: number;
}
