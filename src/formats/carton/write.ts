import type { Description, ModelPackage } from '../../core/index.js';
import { writeMembers } from './artifact.js';
import { planCarton } from './plan.js';
import type { CartonSink, CartonWriteOptions, CartonWritten } from './write-options.js';

/**
 * Package → carton, as a file or as an artifact. The same package gives the same bytes, in any order of its parts, on any machine, at any time; each
 * byte of the model is read once. Nothing is written before the whole carton is planned; who made the sink commits it, or names the artifact.
 * Throws `carton/cannot-write`, `bytes/unsafe-path`, `oci/too-large`, and what reading and the sink throw.
 */
export async function writeCarton(
  pkg: ModelPackage,
  description: Description,
  sink: CartonSink,
  options: CartonWriteOptions,
): Promise<CartonWritten> {
  const { plan, lost, findings } = await planCarton(pkg, description, options);
  return { ...(await writeMembers(plan, sink, options)), lost, findings };
}
