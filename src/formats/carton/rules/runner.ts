import { parseVersionRequirement } from '../../../core/index.js';
import { suggest, type TomlTable } from '../../../text/index.js';
import { childOf, type Item, itemsOf, rootOf, type RuleContext, type TomlView } from './context.js';
import { count, expectType, missing, name, require, table, text, wrong } from './fields.js';
import type { Breach, Rule } from './rule.js';

const section = '`carton.toml`';

/** Rules on [runner], and on what nobody knows. */
export const runnerRules: readonly Rule[] = [
  {
    id: 'CT-53',
    slug: 'runner',
    level: 'error',
    clause: {
      document: 'carton-v1.md',
      section: 'the end',
      quote: 'the only required user-specified fields are `runner_name` and `required_framework_version`',
    },
    title: 'there is a table [runner]',
    check: ({ toml }) => (toml.kind === 'read' ? require(toml, rootOf(toml), 'runner', table) : []),
  },
  {
    id: 'CT-54',
    slug: 'runner-name',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'A string with the name of the runner required to run this model' },
    title: 'runner_name is a text that is not empty',
    check: ({ toml }) =>
      inRunner(toml, (runner) =>
        require(toml, runner, 'runner_name', { expected: 'the name of a runner', fits: (value) => typeof value === 'string' && value !== '' }),
      ),
  },
  {
    id: 'CT-55',
    slug: 'runner-namespace',
    level: 'warning',
    clause: {
      document: 'runner.md',
      section: 'Runner Discovery',
      quote: 'If this is a third party runner, this MUST be prefixed with a unique namespace followed by a forward slash',
    },
    title: 'the name is that of an official runner or NAMESPACE/NAME (a warning, because nobody keeps the list of official runners any more)',
    check: ({ toml, info: { runner } }) =>
      runner === undefined || runner.name === '' || isRunnerName(runner.name)
        ? []
        : [wrong(toml, ['runner', 'runner_name'], runner.name, `NAMESPACE/NAME or one of ${officialRunners.join(', ')}`, suggestRunner(runner.name))],
  },
  {
    id: 'CT-56',
    slug: 'framework-version',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'A version specifier of the allowed framework versions' },
    title: 'required_framework_version is a text',
    check: ({ toml }) => inRunner(toml, (runner) => require(toml, runner, 'required_framework_version', text)),
  },
  {
    id: 'CT-57',
    slug: 'exact-version',
    level: 'note',
    clause: { document: 'carton-v1.md', section, quote: 'In most cases, this should be exactly one version' },
    title: 'it is exactly one version',
    notCheckable: 'Only whoever packed the model knows whether this is one of the other cases',
  },
  {
    id: 'CT-58',
    slug: 'version-requirement',
    level: 'error',
    clause: {
      document: 'carton-v1.md',
      section,
      quote: 'These should be semver version requirements parsable by https://docs.rs/semver/1.0.16/semver/struct.VersionReq.html',
    },
    title: "required_framework_version is a requirement as Rust's semver takes it",
    check: ({ toml }) => inRunner(toml, (runner) => judgeRequirement(toml, runner)),
  },
  {
    id: 'CT-59',
    slug: 'compat-version',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'This is basically a version for the contents of the `model` folder' },
    title: 'runner_compat_version is an integer from 0 on',
    check: ({ toml }) => inRunner(toml, (runner) => expectType(toml, runner, 'runner_compat_version', count)),
  },
  {
    id: 'CT-60',
    slug: 'opts',
    level: 'error',
    clause: {
      document: 'carton-v1.md',
      section,
      quote: 'These options are handled by the runner (the "torchscript" runner in this case) and are different for every runner',
    },
    title: 'runner.opts is a table',
    check: ({ toml }) => inRunner(toml, (runner) => expectType(toml, runner, 'opts', table)),
  },
  {
    id: 'CT-61',
    slug: 'opts-needed',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'Nothing here must be required to run the model' },
    title: 'the model runs without its options',
    notCheckable: 'It would have to be run',
  },
  {
    id: 'CT-62',
    slug: 'opts-removed',
    level: 'error',
    clause: {
      document: 'carton-v1.md',
      section,
      quote: 'Runners are required to be able to correctly run the model even if this section is removed',
    },
    title: 'runners do without options',
    notCheckable: 'It asks something of runners; those of modelport are tested with the section removed',
  },
  {
    id: 'CT-63',
    slug: 'opts-overridden',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'These can be overridden at runtime' },
    title: 'options can be overridden',
    notCheckable: 'It asks something of programs; `run --opt NAME=VALUE` does it',
  },
  {
    id: 'CT-64',
    slug: 'opts-unknown',
    level: 'warning',
    clause: { document: 'carton-v1.md', section, quote: "Runners should warn if they are passed options they don't understand" },
    title: 'runners warn of options that they do not know',
    notCheckable: 'It asks something of runners; those of modelport warn',
  },
  {
    id: 'CT-65',
    slug: 'unknown-key',
    level: 'note',
    clause: { document: 'carton-v1.md', section, quote: 'Any unknown tables or fields are ignored' },
    title: 'no table and no field is ignored',
    check: findUnknown,
  },
];

const officialRunners = ['noop', 'python', 'torchscript', 'rust-bert', 'wasm', 'xla'];

function isRunnerName(runner: string): boolean {
  return officialRunners.includes(runner) || /^[^\s/]+\/[^\s/]+$/.test(runner);
}

function suggestRunner(runner: string): string {
  return runner === 'onnx' ? 'Write modelport/onnx' : suggest(runner, officialRunners);
}

function inRunner(view: TomlView, check: (runner: Item) => Breach[]): Breach[] {
  const runner = childOf(rootOf(view), 'runner');
  return runner === undefined ? [] : check(runner);
}

function judgeRequirement(view: TomlView, { table: { required_framework_version: value }, path }: Item): Breach[] {
  const parsed = typeof value === 'string' ? parseVersionRequirement(value) : undefined;
  return parsed !== undefined && 'problem' in parsed
    ? [
        wrong(
          view,
          [...path, 'required_framework_version'],
          value,
          `a version requirement, and ${parsed.problem}`,
          'Write for example "=2.0.1", ">=1.13, <2" or "*"',
        ),
      ]
    : [];
}

/** `modelport`, `rtol` and `atol` are modelport's own. */
const knownKeys: Readonly<Record<string, string>> = {
  root: 'spec_version model_name short_description model_description license repository homepage required_platforms input output self_test example runner modelport',
  input: 'name dtype shape description internal_name',
  output: 'name dtype shape description internal_name',
  self_test: 'name description inputs expected_out rtol atol',
  example: 'name description inputs sample_out',
  runner: 'runner_name required_framework_version runner_compat_version opts',
};

function findUnknown({ toml }: RuleContext): Breach[] {
  const runner = childOf(rootOf(toml), 'runner');
  const items = ['input', 'output', 'self_test', 'example'].flatMap((key) => itemsOf(toml, key).map((item) => ({ key, item })));
  return [{ key: 'root', item: rootOf(toml) }, ...items, ...(runner === undefined ? [] : [{ key: 'runner', item: runner }])].flatMap(
    ({ key, item }) => {
      const known = knownKeys[key]?.split(' ') ?? [];
      return unknownIn(item.table, known).map((field) => ({
        where: toml.at(...item.path, field),
        message: `${name([...item.path, field])} is not known and ignored`,
        hint: suggest(field, known),
      }));
    },
  );
}

function unknownIn(held: TomlTable, known: readonly string[]): string[] {
  return Object.keys(held).filter((key) => !known.includes(key));
}

/** What the original reader insists on in [runner]. */
export const runnerAdvice: readonly Rule[] = [
  {
    id: 'CT-A8',
    slug: 'compat-version-missing',
    level: 'warning',
    clause: { document: 'practice', section: 'the original reader', quote: 'it refuses a file without runner_compat_version' },
    title: 'runner_compat_version is there',
    check: ({ toml }) =>
      inRunner(toml, (runner) =>
        runner.table['runner_compat_version'] === undefined
          ? [missing(toml, runner, 'runner_compat_version', 'Write runner_compat_version = 1')]
          : [],
      ),
  },
  {
    id: 'CT-A9',
    slug: 'opts-value',
    level: 'warning',
    clause: {
      document: 'practice',
      section: 'the original reader',
      quote: 'it refuses a file whose options are more than integers, floats, texts and booleans',
    },
    title: 'options are integers, floats, texts and booleans',
    check: ({ toml }) =>
      inRunner(toml, (runner) =>
        Object.entries(childOf(runner, 'opts')?.table ?? {})
          .filter(([, value]) => typeof value === 'object')
          .map(([key, value]) =>
            wrong(
              toml,
              [...runner.path, 'opts', key],
              value,
              'an integer, a float, a text or a boolean',
              'Write it as a text, or as several options',
            ),
          ),
      ),
  },
];
