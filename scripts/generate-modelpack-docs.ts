/** docs/formats/modelpack.md: an introduction, then the rules as the table in src/formats/modelpack/rules has them. */
import { type Rule, rules, type Vintage, vintages } from '../src/formats/modelpack/index.js';
import { isAdvice, listUncheckable, toTable } from './rules-table.js';

export const file = 'docs/formats/modelpack.md';

const intro = `# ModelPack

Generated from the rules in \`src/formats/modelpack/rules\` by \`npm run docs\`.

A ModelPack is a model as an OCI artifact: a manifest, a config that says what the model is, and layers that hold its files. It is pushed to
and pulled from any OCI registry. modelport reads and writes three vintages of the specification.

## Vintages

| vintage | what | layers | config |
| --- | --- | --- | --- |
| \`cncf\` | the present text, media types \`application/vnd.cncf.model.*\`; what is written unless another is asked for | \`.raw\`, \`.tar\`, \`.tar+gzip\`, \`.tar+zstd\` of \`weight\`, \`weight.config\`, \`doc\`, \`code\`, \`dataset\` | model config |
| \`cnai\` | the same under \`application/vnd.cnai.model.*\`; registries that show models by the earlier names need it | the bare \`weight.v1\` for a raw weight, the tar forms for all kinds | model config |
| \`draft-2024\` | the draft of November 2024 | image layers with a second type on the descriptor | image config; the description is in annotations of the manifest |

A package is recognised by its \`artifactType\`, else by \`config.mediaType\`, else by the types of its layers, else by its annotations. The media
type of the manifest says nothing. Registries older than OCI 1.1 drop \`artifactType\`, and such a package is read all the same.

## Reading

Everything that circulates is read, and what deviates from the specification is a finding:

- both prefixes, mixed or not; raw weights as \`weight.v1\`, \`weight.v1.raw\`, \`weight.v1.gguf\` or \`weight.v1.safetensors\`; the kinds \`layer\` and \`config\` of early drafts;
- earlier names of config fields (\`diff_ids\`, \`parameterSize\`, \`createTime\`, \`input_types\` and others), and annotations of the manifest where the config is silent;
- the path of a layer from \`filepath\` of either family, else the title, else the name in the file metadata;
- a tar whose entries are rooted at the model, and a tar that holds one file under its bare name, which goes where \`filepath\` says;
- bytes that are compressed in another way than the media type says: the bytes are believed;
- the draft's layers as one stacked tree, whiteouts applied.

Raw layers are not touched, of plain tars the headers are read, compressed tars are decompressed up to 64 MiB for the list of their files; a larger one is
shown as one file. What has no neutral place stands verbatim in \`extra\`: \`annotations\`, \`config\`, \`diffIds\`, \`layers\`, \`subject\`.

The role of a file comes from the kind of its layer and from its name: some tools put later shards of weights into \`weight.config\`. A role is marked as
guessed when the packer said so (\`untested\`) or when no kind is known.

## Writing

Equal files give an equal digest: times are a constant (\`SOURCE_DATE_EPOCH\`, else 1970), the owner is 0, modes are 0644 or 0755, layers are in the order of
kinds and paths. \`cncf\` packages have one raw layer a file, with filepath, title and all seven fields of file metadata; from 256 files of one kind on, small
ones share a tar. Weights are compressed only when asked for, and never in the draft.
`;

const rulesIntro = `## Rules

\`modelport validate\` checks them. An error breaks a MUST or REQUIRED, a warning a SHOULD or a recommendation; with \`--strict\` warnings count too. The code of a
finding is \`modelpack/\` and the name of its rule.
`;

const adviceIntro = `## Advice

Not in the specification: what registries and strict readers refuse or mishandle.
`;

export function generate(): string {
  const [advice, specified] = [rules.filter(isAdvice), rules.filter((rule) => !isAdvice(rule))];
  return [intro, rulesIntro, toTable(specified, vintageColumn), listUncheckable(specified), adviceIntro, toTable(advice, vintageColumn)].join('\n');
}

const vintageColumn = [{ title: 'vintages', toCell: ({ vintages: each }: Rule) => toVintages(each) }];

function toVintages(each: readonly Vintage[]): string {
  return each.length === vintages.length ? 'all' : each.join(', ');
}
