import { mapConcurrent } from '../../bytes/index.js';
import { type Finding, isChecked, isToolkitError, type PackageSource, type ReadOptions } from '../../core/index.js';
import { readConfigBlob } from './config-blob.js';
import { lookInto } from './layer-content.js';
import { findLayerPath } from './placement.js';
import { lookConcurrency, openModelpack } from './read.js';
import { rules } from './rules.js';
import type { RuleContext } from './rules/context.js';
import { annotationKeys, familyOf } from './spec.js';

/**
 * Every breach of the rules of its vintage, in the order of the table, then what could not be looked into. Reads the config and the
 * headers of layers; whole only compressed tars of moderate size. Digests of whole blobs are for `verify`.
 */
export async function validate(source: PackageSource, options: ReadOptions): Promise<readonly Finding[]> {
  try {
    const context = await gather(source, options);
    return [...applyRules(context), ...listUnseen(context)];
  } catch (error) {
    if (!isToolkitError(error) || error.exitCode !== 1) throw error;
    return [
      {
        level: 'error',
        code: 'modelpack/unreadable',
        message: error.message,
        where: error.where ?? source.location,
        ...(error.hint === undefined ? {} : { hint: error.hint }),
      },
    ];
  }
}

async function gather(source: PackageSource, options: ReadOptions): Promise<RuleContext> {
  const { oci, view, vintage } = openModelpack(source, options);
  const { limits } = options;
  const config = await readConfigBlob(oci, view, limits);
  const layers = await mapConcurrent(view.layers, lookConcurrency, async (layer) => ({
    view: layer,
    path: findLayerPath(layer.annotations),
    content: await lookInto(layer, oci.blobs, limits),
  }));
  return { vintage, keys: annotationKeys[familyOf(vintage)], view, manifestBytes: oci.bytes.byteLength, config, layers, limits };
}

function applyRules(context: RuleContext): Finding[] {
  return rules
    .filter(({ vintages }) => vintages.includes(context.vintage))
    .flatMap((rule) =>
      isChecked(rule)
        ? rule
            .check(context)
            .map(({ where, message, hint }) => ({ level: rule.level, code: `modelpack/${rule.slug}`, rule: rule.id, message, where, hint }))
        : [],
    );
}

/** Layers that the rules could say nothing about. */
function listUnseen({ layers }: RuleContext): Finding[] {
  return layers.flatMap(({ view, content: { problem } }): Finding[] => {
    if (view.descriptor === undefined || problem === undefined || problem.kind === 'malformed') return [];
    if (problem.kind === 'missing')
      return [
        {
          level: 'error',
          code: 'modelpack/layer-missing',
          message: problem.message,
          where: view.where,
          hint: 'Copy the package again with all blobs',
        },
      ];
    return [
      {
        level: 'note',
        code: 'modelpack/layer-not-listed',
        message: `${problem.message}; the rules on its files were not checked`,
        where: view.where,
      },
    ];
  });
}
