/** docs/formats/carton.md: an introduction, then the rules as the table in src/formats/carton/rules has them. */
import { rules } from '../src/formats/carton/rules.js';
import { artifactType, membersType, memberType, modelHashKey } from '../src/formats/carton/spec.js';
import { isAdvice, listUncheckable, toTable } from './rules-table.js';

export const file = 'docs/formats/carton.md';

const intro = `# Carton

Generated from the rules in \`src/formats/carton/rules\` by \`npm run docs\`.

A carton is a model in a zip, \`NAME.carton\`, with everything that is needed to call it: typed inputs and outputs, the runner and the versions of its
framework, self tests, examples, and a list with the hash of every file. modelport reads, writes, validates, verifies, tests and runs version 1.

## Members

| member | what |
| --- | --- |
| \`carton.toml\` | who the model is, inputs and outputs, self tests and examples, the runner and its options |
| \`MANIFEST\` | \`PATH=SHA256\` of every other file, sorted by the bytes of the paths; its own SHA-256 is the model hash |
| \`model/\` | the files of the model, as its runner wants them |
| \`tensor_data/\` | tensors of self tests and examples: \`index.toml\`, one little-endian \`.bin\` or one \`.toml\` of texts each |
| \`misc/\` | pictures, sound and other files that examples and the description show |
| \`LINKS\` | URLs of files that MANIFEST lists and the zip leaves out; not part of the model hash |

A carton is also read from an unpacked folder with these members, and from a registry.

## Reading

What the specification allows is read, what breaks it is a finding with file, line and column:

- stored, deflate and zstd members in any order; links (relative, to a file inside) are followed, and are checked by the content they lead to;
- \`tensor_data/index.toml\` and \`inner\` may be missing, though the original reader fails without them;
- tables and fields that are not known are kept when a carton is rewritten, and so are the types of options: \`1.0\` stays a float, integers are exact to 64
  bits;
- \`short_description\`, \`license\`, \`repository\` and \`homepage\` are known, as in the newest text of the format;
- \`spec_version\` other than 1 is refused.

Every file is held against its hash before it is used. \`inspect\`, \`validate\`, and \`verify\` without \`--links\`, fetch no links.

\`required_framework_version\` is a requirement of Rust's semver, not of npm: a bare \`1.2.3\` means \`^1.2.3\`, comparators are joined by commas, \`=2.0\` is any
2.0.x, there is no \`||\`. Versions are taken as frameworks write them: \`3.11.7+\` is 3.11.7, \`1.13.1+cu117\` is 1.13.1, \`2.0.1a0\` is a pre-release.

Of \`required_platforms\` vendors do not count, and what a triple leaves out takes anything: \`x86_64-linux-gnu\` is \`x86_64-unknown-linux-gnu\`.

## Writing

Equal input gives an equal file and an equal model hash, on any machine: members in a fixed order (\`model/\`, \`tensor_data/\`, \`misc/\`, \`carton.toml\`,
\`MANIFEST\`, \`LINKS\`, each sorted), no times, equal tensors once. Weights are stored, so that parts of a remote carton can be read alone, and the metadata
lies at the end, so that one read of the tail has it. What the original library insists on is always there: the index, \`inner\`, \`sample_out\` and
\`runner_compat_version\`.

modelport adds a table \`[modelport]\` and, in self tests, \`rtol\` and \`atol\`; other readers ignore them.

## In a registry

Carton has no form of its own for registries. modelport's is an OCI artifact, which keeps MANIFEST byte for byte and so the model hash:

| what | value |
| --- | --- |
| \`artifactType\` | \`${artifactType}\` |
| config | the empty one, \`application/vnd.oci.empty.v1+json\` |
| a member from 64 KiB on | one layer \`${memberType}\`, its path in \`org.opencontainers.image.title\` |
| the smaller members | one layer \`${membersType}\`, a plain tar |
| model hash | annotation \`${modelHashKey}\` of the manifest |

A layer is a file, so versions of a model share what is equal in them. \`push\` takes the file, an unpacked folder, or with \`--format carton\` a folder with a
model; \`pull -o NAME.carton\` and \`copy\` make the file again, and the model hash is the same.

## Links

\`modelport carton shrink\` leaves out the files that URLs serve (\`--link URL\`, \`--link SHA256=URL\`, \`--hf ORG/REPO@REVISION\`) and names the URLs in LINKS;
\`modelport carton inflate\` puts them inside again. Neither changes MANIFEST, so the model hash stays.

\`cat\`, \`test\`, \`run\` and \`unpack\` fetch what they need: every URL in turn, over https (or http to this machine) only, the encodings zstd, gzip, br and
deflate decoded, at most \`linkedBytes\` of \`src/core/limits.ts\`. No byte is used before the whole file has the hash that MANIFEST states. What was fetched
is kept by its hash in \`$MODELPORT_HOME/cache\`, hashed again whenever it is used, and removed by \`modelport prune\`. \`--offline\` refuses and names what is
missing.

\`push\` and \`copy\` keep links as they are, with \`--inflate\` they bring the files inside. \`modelport carton links check\` fetches and hashes what every URL
serves, and keeps nothing; \`verify --links\` hashes what is linked beside what is inside.

## At a URL

\`inspect\`, \`ls\`, \`cat\` and all that read take \`https://…/NAME.carton\`, by ranges: the first request brings the last MiB, where modelport puts everything
but the weights. Ranges that lie close together are fetched together, and all have to be of the same state of the file. A server that gives no ranges is
read once, up to \`remoteCopyBytes\`, or refused with the reason.

## Running and testing

[Running models](../running.md) says how \`run\` and \`test\` start a model, what they ask first, and how outputs are compared. \`modelport carton examples\`
lists self tests and examples, and with \`-o\` writes their tensors as .npy or JSON and their other files as they are; \`cat CARTON @tensor_data/NAME\` and
\`@misc/FILE\` give single ones.
`;

const rulesIntro = `## Rules

\`modelport validate\` checks them. What breaks the specification is an error, what only the original reader refuses a warning, an oddity a note; with
\`--strict\` warnings count too. The code of a finding is \`carton/\` and the name of its rule. At most 100 places of one rule are listed.
\`carton-v1.md\` is the specification, \`format.md\` its newest text and \`runner.md\` the text on runners, both in the repository of Carton.
`;

const adviceIntro = `## Advice

Not in the specification: what the original reader refuses, and what fails later.
`;

export function generate(): string {
  const [advice, specified] = [rules.filter(isAdvice), rules.filter((rule) => !isAdvice(rule))];
  return [intro, rulesIntro, toTable(specified), listUncheckable(specified), adviceIntro, toTable(advice)].join('\n');
}
