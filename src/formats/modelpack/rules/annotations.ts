import { isJsonObject } from '../../../core/index.js';
import { judgePath, normalizeEntryName } from '../../../bytes/index.js';
import { parseFileMetadata } from '../file-metadata.js';
import { formerMetadataKey, titleKey } from '../spec.js';
import { type RuleContext, typedVintages } from './context.js';
import { type Breach, type Rule, show } from './rule.js';

const section = 'Layer Annotation Keys';

/** Rules on annotations. */
export const annotationRules: readonly Rule[] = [
  {
    id: 'MP-21',
    slug: 'annotation-values',
    level: 'warning',
    vintages: ['cncf', 'cnai', 'draft-2024'],
    clause: { document: 'annotations.md', section: 'Annotations', quote: 'SHOULD follow the rules of OCI image annotations' },
    title: 'annotations map text to text, and no key is empty',
    check: checkMaps,
  },
  {
    id: 'MP-22',
    slug: 'filepath',
    level: 'error',
    vintages: ['cncf', 'cnai', 'draft-2024'],
    clause: { document: 'annotations.md', section, quote: 'filepath: Specifies the file path of the layer' },
    title: 'filepath is a path inside the model',
    check: ({ view, keys, limits }) =>
      view.layers.flatMap(({ where, annotations }) =>
        // Other tools take the title for the path.
        [keys.filepath, titleKey].flatMap((key) => {
          const path = annotations[key];
          const reason = path === undefined ? undefined : judgePath(normalizeEntryName(path), limits);
          return reason === undefined
            ? []
            : [
                {
                  where: `${where}.annotations.${key}`,
                  message: `${show(path)} cannot be used: ${reason}`,
                  hint: 'Write a relative path with / between its parts',
                },
              ];
        }),
      ),
  },
  {
    id: 'MP-23',
    slug: 'file-metadata',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'annotations.md', section, quote: 'file.metadata+json: value is the JSON string of File Metadata Annotation Value' },
    title: 'file metadata is JSON with fields of the right types',
    check: (context) => checkMetadata(context, (problem) => !problem.endsWith('is missing')),
  },
  {
    id: 'MP-24',
    slug: 'untested',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'annotations.md', section, quote: 'file.mediatype.untested: Valid values are "true" or "false"' },
    title: 'untested is "true" or "false"',
    check: ({ view, keys }) =>
      view.layers
        .filter(({ annotations }) => ![undefined, 'true', 'false'].includes(annotations[keys.untested]))
        .map(({ where, annotations }) => ({
          where: `${where}.annotations.${keys.untested}`,
          message: `Expected "true" or "false", found ${show(annotations[keys.untested])}`,
          hint: 'Write "true" when the kind of the layer was guessed, else "false"',
        })),
  },
];

function checkMaps({ view }: RuleContext): Breach[] {
  const holders = [
    { where: 'annotations', value: view.json['annotations'] },
    ...[view.config, ...view.layers].flatMap((each) =>
      each === undefined ? [] : [{ where: `${each.where}.annotations`, value: each.json['annotations'] }],
    ),
  ];
  return holders.flatMap(({ where, value }) => {
    if (value === undefined) return [];
    if (!isJsonObject(value))
      return [{ where, message: `Expected an object, found ${show(value)}`, hint: 'Write a map from text to text, or leave it out' }];
    const wrong = Object.entries(value).find(([key, text]) => key === '' || typeof text !== 'string');
    return wrong === undefined
      ? []
      : [
          {
            where: `${where}.${wrong[0]}`,
            message: wrong[0] === '' ? 'A key is empty' : `Expected text, found ${show(wrong[1])}`,
            hint: 'Write the value as text, in quotes',
          },
        ];
  });
}

/** The problems of every layer's file metadata that `isMeant` picks, one breach a layer. */
export function checkMetadata({ view, keys }: RuleContext, isMeant: (problem: string) => boolean): Breach[] {
  return view.layers.flatMap(({ where, annotations }) => {
    const key = annotations[keys.metadata] === undefined ? formerMetadataKey : keys.metadata;
    const text = annotations[key];
    const problems = text === undefined ? [] : parseFileMetadata(text).problems.filter(isMeant);
    return problems.length === 0
      ? []
      : [
          {
            where: `${where}.annotations.${key}`,
            message: `${problems.join('; ')}, found ${show(text)}`,
            hint: 'Write name, mode, uid, gid, size, mtime and typeflag, with the types of annotations.md',
          },
        ];
  });
}
