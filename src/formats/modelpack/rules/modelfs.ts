import { isJsonObject } from '../../../core/index.js';
import { breach, diffIdsOf, expectObject } from './config-values.js';
import { type RuleContext, sectionOf, typedVintages } from './context.js';
import { type Breach, type Rule, show } from './rule.js';

/** Rules on `modelfs`: the digests of the layers. */
export const modelfsRules: readonly Rule[] = [
  {
    id: 'MP-42',
    slug: 'modelfs-required',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'Properties', quote: 'modelfs _object_, REQUIRED' },
    title: 'modelfs is an object',
    check: (context) => expectObject(context, 'modelfs'),
  },
  {
    id: 'MP-43',
    slug: 'modelfs-type',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'modelfs.type', quote: 'Must be set to "layers"' },
    title: 'modelfs.type is "layers"',
    check: (context) => {
      const modelfs = sectionOf(context, 'modelfs');
      return !isJsonObject(modelfs) || modelfs['type'] === 'layers'
        ? []
        : [breach('modelfs.type', `Expected "layers", found ${show(modelfs['type'])}`, 'Set modelfs.type to "layers"')];
    },
  },
  {
    id: 'MP-44',
    slug: 'diff-ids',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'modelfs.diffIds', quote: 'array of strings, REQUIRED' },
    title: 'modelfs.diffIds is a list of digests, at least one',
    check: (context) => {
      const modelfs = sectionOf(context, 'modelfs');
      if (!isJsonObject(modelfs)) return [];
      const found = diffIdsOf(context);
      const isList =
        Array.isArray(found) && found.length > 0 && found.every((each) => typeof each === 'string' && /^[a-z0-9+._-]+:[0-9a-zA-Z=_-]+$/.test(each));
      return isList
        ? []
        : [breach('modelfs.diffIds', `Expected a list of digests, found ${show(found)}`, 'List the digest of each layer before compression')];
    },
  },
  {
    id: 'MP-45',
    slug: 'diff-ids-count',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'modelfs.diffIds', quote: 'An array of layer content hashes (DiffIDs), in order from first to last' },
    title: 'there is one diffId a layer',
    check: (context) => {
      const found = diffIdsOf(context);
      if (!Array.isArray(found) || found.length === 0 || found.length === context.view.layers.length) return [];
      return [
        breach(
          'modelfs.diffIds',
          `Expected ${context.view.layers.length}, one a layer, found ${found.length}`,
          'List the digest of each layer before compression, in the order of the layers',
        ),
      ];
    },
  },
  {
    id: 'MP-46',
    slug: 'diff-id-value',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'config.md', section: 'Terminology', quote: "A layer DiffID is the hash of the layer's uncompressed tar archive" },
    title: 'the diffId of a layer that is not compressed is its digest',
    check: checkDiffIds,
  },
];

/** Free to check: what is not compressed hashes to its own digest. */
function checkDiffIds(context: RuleContext): Breach[] {
  const found = diffIdsOf(context);
  if (!Array.isArray(found) || found.length !== context.view.layers.length) return [];
  return context.layers.flatMap(({ view, content }) => {
    const isPlain = view.type?.encoding === 'raw' || (view.type?.encoding === 'tar' && content.compression === 'none');
    const digest = view.descriptor?.digest;
    if (!isPlain || digest === undefined || found[view.index] === digest) return [];
    return [
      breach(
        `modelfs.diffIds[${view.index}]`,
        `Expected ${digest}, the digest of ${view.where}, found ${show(found[view.index])}`,
        'List the digest of each layer before compression, in the order of the layers',
      ),
    ];
  });
}
