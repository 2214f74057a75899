import { type Check, type Finding, isChecked, isToolkitError, type PackageSource, type ReadOptions } from '../../core/index.js';
import type { CartonDocuments } from './carton.js';
import { readDocuments } from './documents.js';
import { rules } from './rules.js';
import { gather } from './rules/gather.js';
import type { Place, RuleContext } from './rules/context.js';
import type { Rule } from './rules/rule.js';

/**
 * Every breach of the rules, in the order of the table. Reads the documents, tensors of texts and the beginnings of files in misc/; hashes of
 * all files are for `verify`. Wrong content never throws, only a place that cannot be read.
 */
export async function validate(source: PackageSource, options: ReadOptions): Promise<readonly Finding[]> {
  try {
    return await validateDocuments(await readDocuments(source, options));
  } catch (error) {
    if (!isToolkitError(error) || error.exitCode !== 1) throw error;
    const { message, where = source.location, hint } = error;
    return [{ level: 'error', code: 'carton/unreadable', message, where, ...(hint === undefined ? {} : { hint }) }];
  }
}

/** The same of documents that were read already. */
export async function validateDocuments(documents: CartonDocuments): Promise<readonly Finding[]> {
  const context = await gather(documents);
  return rules.filter(isChecked).flatMap((rule) => apply(rule, context));
}

/** Nobody reads more of one kind. */
const mostBreaches = 100;

function apply(rule: Rule & Check<RuleContext, Place>, context: RuleContext): Finding[] {
  const { id, slug, level } = rule;
  const breaches = rule.check(context);
  const told = breaches
    .slice(0, mostBreaches)
    .map(({ where, message, hint }) => ({ level, code: `carton/${slug}`, rule: id, message, where: where(), hint }));
  const left = breaches.length - told.length;
  const [last] = told.slice(-1);
  return left > 0 && last !== undefined ? [...told, { ...last, message: `${left} more places break the same rule` }] : told;
}
