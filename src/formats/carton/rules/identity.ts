import { type MarkdownTarget, scanMarkdown } from '../markdown.js';
import { miscFolder, miscPrefix, specVersion } from '../spec.js';
import { parseTargetTriple } from '../target-triple.js';
import { isKnown, rootOf, type RuleContext } from './context.js';
import { expectType, missing, text, texts, wrong } from './fields.js';
import { decode } from './misc.js';
import { type Breach, type Rule, show } from './rule.js';

const section = '`carton.toml`';

/** Rules on the version, on who the model is, and on where it runs. */
export const identityRules: readonly Rule[] = [
  {
    id: 'CT-08',
    slug: 'toml',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'This is a toml file with the following structure' },
    title: 'carton.toml is TOML',
    check: ({ documents: { toml } }) =>
      toml.kind === 'broken'
        ? [
            {
              where: () => toml.finding.where ?? 'carton.toml',
              message: toml.finding.message,
              hint: toml.finding.hint ?? 'Mend the place that it names',
            },
          ]
        : [],
  },
  {
    id: 'CT-09',
    slug: 'spec-version',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'A number defining the carton spec version. This is currently 1' },
    title: 'spec_version is 1',
    check: ({ toml }) => {
      const found = toml.table['spec_version'];
      if (toml.kind !== 'read' || found === BigInt(specVersion)) return [];
      return found === undefined
        ? [missing(toml, rootOf(toml), 'spec_version', 'Write spec_version = 1')]
        : [wrong(toml, ['spec_version'], found, 'the integer 1')];
    },
  },
  {
    id: 'CT-10',
    slug: 'model-name',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'The name of the model' },
    title: 'model_name is a text',
    check: ({ toml }) => expectType(toml, rootOf(toml), 'model_name', text),
  },
  {
    id: 'CT-11',
    slug: 'model-name-missing',
    level: 'warning',
    clause: { document: 'carton-v1.md', section, quote: 'Optional, but highly recommended The name of the model' },
    title: 'the model has a name',
    check: ({ toml }) =>
      toml.kind === 'read' && [undefined, ''].includes(toml.table['model_name'] as string | undefined)
        ? [missing(toml, rootOf(toml), 'model_name', 'Give the model a name')]
        : [],
  },
  {
    id: 'CT-12',
    slug: 'model-description',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Some description of the model that can be as detailed as you want it to be' },
    title: 'model_description is a text',
    check: ({ toml }) => expectType(toml, rootOf(toml), 'model_description', text),
  },
  {
    id: 'CT-13',
    slug: 'description-lines',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'This can span multiple lines' },
    title: 'the description may have several lines',
    notCheckable: 'It permits something, and every text is one that it permits',
  },
  {
    id: 'CT-14',
    slug: 'description-html',
    level: 'warning',
    clause: { document: 'carton-v1.md', section, quote: "It can use markdown, but shouldn't use arbitrary HTML" },
    title: 'the description holds no HTML',
    check: ({ toml, info }) =>
      scanMarkdown(info.modelDescription ?? '').html.map(({ text: tag, line }) => ({
        where: toml.at('model_description'),
        message: `Line ${line} of model_description holds the HTML ${show(tag)}, which is shown as text`,
        hint: 'Write it in Markdown',
      })),
  },
  {
    id: 'CT-15',
    slug: 'description-target',
    level: 'error',
    clause: {
      document: 'carton-v1.md',
      section,
      quote: 'the paths must either be complete https URLs (e.g. https://example.com/image.png) or must reference a file in the misc folder',
    },
    title: 'links and images of the description lead to https or to a file in misc/ (or to a heading of itself, which is no path)',
    check: (context) => scanMarkdown(context.info.modelDescription ?? '').targets.flatMap((target) => judgeTarget(context, target)),
  },
  {
    id: 'CT-16',
    slug: 'required-platforms',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'A list of platforms the model supports. If empty or unspecified, all platforms are okay' },
    title: 'required_platforms is a list of texts, empty or not there',
    check: ({ toml }) => expectType(toml, rootOf(toml), 'required_platforms', texts),
  },
  {
    id: 'CT-17',
    slug: 'target-triple',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'The contents of this list are target triples' },
    title: 'each platform is a target triple',
    check: ({ toml, info }) =>
      info.requiredPlatforms.flatMap((triple, at) => {
        const parsed = parseTargetTriple(triple);
        return 'problem' in parsed
          ? [
              wrong(
                toml,
                ['required_platforms', at],
                triple,
                `a target triple, and ${parsed.problem}`,
                'Write for example "x86_64-unknown-linux-gnu"',
              ),
            ]
          : [];
      }),
  },
];

/** Where a Markdown text may lead. */
function judgeTarget(context: RuleContext, { kind, target, line }: MarkdownTarget): Breach[] {
  if (kind === 'link' && /^#./.test(target)) return [];
  const reason = target.startsWith(miscPrefix)
    ? judgeMisc(context, target.slice(miscPrefix.length))
    : isHttps(target)
      ? undefined
      : 'it is no complete https URL';
  return reason === undefined
    ? []
    : [
        {
          where: context.toml.at('model_description'),
          message: `Cannot use the ${kind} ${show(target)} in line ${line} of model_description: ${reason}`,
          hint: 'Write a complete https URL, or put the file into misc/ and write @misc/NAME',
        },
      ];
}

function judgeMisc(context: RuleContext, name: string): string | undefined {
  return [name, decode(name)].some((each) => isKnown(context, `${miscFolder}${each}`)) ? undefined : 'the carton has no such file';
}

export function isHttps(target: string): boolean {
  return URL.canParse(target) && /^https:\/\/[^/]/i.test(target);
}
