/** docs/running.md: how models are run, with the options that each runtime declares. */
import { type Runtime, type RuntimeOption, defaultLimits } from '../src/core/index.js';
import { frameAlignment, frameMagic, headerLimit, protocolVersion } from '../src/runtimes/protocol/frame.js';
import { runtimes } from '../src/runtimes/index.js';

export const file = 'docs/running.md';

const intro = `# Running models

Its options come from \`src/runtimes\`; \`npm run docs\` writes this page.

\`\`\`sh
modelport test digits.carton                                    # the self tests that the package carries
modelport run digits.carton -i pixels=@image.npy                # one inference, inputs by name; the answer as JSON
modelport run digits.carton @image.npy -o ./answer              # inputs in declared order; each output a file
modelport run ./model --runner python --framework-version '>=3.8' -i 'x=[1,2]' --allow-code    # a folder that is no package yet
\`\`\`

Both take whatever \`inspect\` takes: a file, a folder, a name, a registry, a URL. Of a carton the files below \`model/\` are unpacked into a temporary
folder, each held against its hash, and that folder is gone when the command ends. Links are fetched and checked first ([cartons](formats/carton.md)). A
bare folder is run where it lies.
`;

const asked = `## Before anything runs

1. *Platform*: when the target triple of this machine is not among those that the package requires, it is refused (exit 3). \`--any-platform\` overrides.
2. *Runtime*: \`--runner\`, else what the package says, else \`onnx\` where there is exactly one \`.onnx\` file.
3. *Consent*: models of \`python\` and \`torchscript\` are programs, which can do whatever their user can. At a terminal a person is asked; elsewhere it needs
   \`--allow-code\` or \`-y\` (exit 3 without). \`noop\` and \`onnx\` run no code of the package and ask nobody.
4. *Framework*: its version is held against what the package requires, as Rust's semver understands that. \`--framework-version\` and
   \`--runner\` take the place of what the package says, with a warning; \`--framework-version '*'\` takes any, pre-releases too.
5. *Layout*: \`runner_compat_version\` other than 1 is refused.

## Runtimes
`;

const python = `### python

The first Python whose version fits, of: \`MODELPORT_PYTHON\` (a path, or a name on \`PATH\`), \`python3\`, \`python\` and \`python3.14\` to \`python3.8\` on \`PATH\`,
then the virtual environments that \`MODELPORT_PYTHONS\` lists, as \`PATH\` does. One with NumPy comes before one without.

The model never runs in that environment: a virtual one is made below \`$MODELPORT_HOME/runtimes/python\`, once for each interpreter and set of packages, and
kept. Into it go the wheels of \`model/.carton/carton.lock\` that are meant for this interpreter, or, without a lock file, what \`requirements.txt\` names, if
every line has a hash; nothing is built and nothing resolved, and each wheel is checked. NumPy comes from there, else from the interpreter it was made
from. With \`--offline\` nothing is fetched: what is missing is refused by name.

The entry point is a function that gives an object with \`infer_with_tensors(inputs)\`, or with \`seal(inputs)\` and \`infer_with_handle(handle)\`; each may be a
coroutine, and an inference may be a generator, also an async one. Without options \`main:get_model\` is tried, then the only top-level module with a
function of that name. Inputs are a dictionary of NumPy arrays, or of lists of them for ragged ones; text is \`dtype=str\`.
`;

const torchscript = `### torchscript

\`model.pt\`, as \`torch.jit.save\` writes it, in a Python that has torch and NumPy; it is searched in the same places. A torch that was built from sources
(\`1.13.0a0+git…\`, as distributions have it) counts as its release. \`forward\` takes one dictionary, as Carton's runner has it, or tensors side by side,
which get the inputs in declared order; what it gives without names gets those of the declared outputs. Text is \`str\` or a list of \`str\`.
`;

const onnx = `### onnx

\`model.onnx\`, else the only \`.onnx\` file, by \`onnxruntime-node\` 1.22 or newer: installed beside modelport, or in the folder that \`MODELPORT_ONNXRUNTIME\`
names. A name of the package means the tensor of the graph of its \`internal_name\`, else of its own. It is written \`modelport/onnx\` into cartons; \`onnx\` is
read, too.

It runs in a process of its own, so that it can be stopped and a crash is an error. \`--in-process\` starts sooner, but then neither a time limit nor an
interrupt ends an inference that has begun; on a GPU it has no effect.
`;

const noop = `### noop

Gives back what it is given: for tests of everything around a model.
`;

const rest = `## Options

\`--opt NAME=VALUE\` goes over what the package says (\`[runner.opts]\`), name by name. The value is a number, \`true\`, \`false\` or text as TOML writes them; a
bare word is text. An option that the runtime does not have, or of another type, is left out with a warning.

## Devices and time

\`--device\` is \`cpu\` (default), the index of a GPU, or its UUID. A process sees that device alone (\`CUDA_VISIBLE_DEVICES\`).

\`--timeout\` seconds are for loading and for each inference; without it \`timeout\` of \`[run]\`, else 600. A model that does not answer in time, that crashes,
or that breaks the protocol ends with an error that says so and shows the last lines of its output; of its process, and of all that it started, nothing
stays.

A process gets \`PATH\`, \`HOME\`, \`TMPDIR\`, \`TZ\`, language, CUDA and library paths of the environment, and nothing else: no tokens, no \`PYTHONPATH\`. What it
writes to stdout and stderr is kept, the last 64 KiB, and is never taken for an answer.

## Values

An input is \`@file.npy\`, \`@file.json\`, \`@file.bin\` (bare little-endian bytes of the declared dtype, and of a shape with at most one free size) or JSON on
the command line: nested lists, or \`{"dtype", "shape", "data"}\`. JSON may be ragged where every declared size is free. Either all have names (\`-i
NAME=VALUE\`) or none. A tensor has at most ${defaultLimits.tensorBytes / 1024 ** 3} GiB, and Python's pickles (\`dtype=object\`) are not read.

What the package declares holds before and after: names, dtypes, number of dimensions, sizes, and symbols, which have one value in all inputs and outputs.
A missing or wrong one is an error (exit 1), an output that is not declared a warning.

Without \`-o\` the outputs are one JSON document in the words of the Open Inference Protocol, \`data\` flat in C order. With \`-o DIR\` each is a file,
\`NAME.npy\`, or \`NAME.json\` for text and ragged ones. Of a model that streams the last result is the answer; \`items\` says how many there were.

## Self tests

\`modelport test\` runs each self test and compares as \`numpy.allclose\` does: \`|found - expected| <= atol + rtol * |expected|\`, with \`rtol\` 1e-5 and \`atol\`
1e-8 unless the self test or \`--rtol\` and \`--atol\` say others; the options win. NaN equals nothing, not even NaN, unless \`--equal-nan\` is given. Whole
numbers and texts have to be equal, and dtype and shape always. A ragged tensor is compared one inner tensor at a time. A missing output fails, one that
nobody expects is a warning.

A self test without expected outputs only runs: it is *skipped*, never passed. What fails says by how much and where. The exit status is 1 when one failed,
and \`--only\` chooses some by name or number.

## Recording

\`run … --record NAME\` keeps what went in and came out as a self test, with \`--as example\` as an example, runtime and version noted in its description.
\`test --record\` gives an expectation to self tests that have none, and \`test --update\` replaces those that failed, after the difference was shown and a
person, or \`-y\`, has said yes. In a folder the tensors become .npy or .json files and \`modelport.toml\` names them; a carton is never changed: \`--to PLACE\`
says where the new one goes.

## Between modelport and a model's process

A runtime that runs in a process of its own talks to it over two file descriptors, 3 to the process and 4 from it. Whoever writes such a process needs no
more than this; \`src/runtimes/protocol/modelport_wire.py\` is the one for Python.

A *frame* is, without gaps:

| bytes | what |
| --- | --- |
| 4 | \`${frameMagic}\` |
| 4 | length of the header, unsigned, little-endian; at most ${headerLimit.toLocaleString('en')} |
| … | the header, a JSON object in UTF-8 |
| … | the bytes of its tensors in the order of the header, each preceded by zeros up to a multiple of ${frameAlignment} from the start of the frame |

The header has \`id\`, \`type\`, the fields of the type, and \`tensors\`: a list of \`{name, dtype, shape, bytes}\`. Numbers are little-endian and in C order; of
\`string\` the bytes are a JSON list of the elements; of \`nested\` there is \`inner\` with one such description each, and their bytes follow one another.

| type | from | fields | answered by |
| --- | --- | --- | --- |
| \`hello\` | process | \`protocol\` (${protocolVersion}), \`runtime\`, \`version\`, \`frameworkVersion\`; its \`id\` is 0 and it comes before anything is asked | |
| \`load\` | modelport | what the runtime needs, such as \`folder\` and \`options\`: a list of \`{name, type, value}\` with text for values, so that no number is rounded | \`end\` or \`error\` |
| \`infer\` | modelport | the inputs | any number of \`item\`, then \`end\` or \`error\` |
| \`item\` | process | the outputs | |
| \`end\` | process | | |
| \`error\` | process | \`reason\` (\`model\`, \`input\`, \`output\`, \`missing\`), \`message\`, \`hint\`, \`traceback\` | |
| \`cancel\` | modelport | its \`id\` is that of the question | the \`end\` or \`error\` of that |
| \`close\` | modelport | | the process ends |

Questions are numbered from 1, and an answer bears the number of its question; one is asked at a time. The end of the stream is a \`close\`, too. A process
that is asked to leave has two seconds. Whatever is no frame, or comes where it should not, ends the session with \`runtime/protocol\`.
`;

const texts: Readonly<Record<string, string>> = { noop, python, torchscript, onnx };

export function generate(): string {
  return [intro, asked, toOverview(), ...runtimes.map(toSection), rest].join('\n');
}

function toOverview(): string {
  const rows = runtimes.map(({ id, names, runsCode }) => {
    return `| \`${id}\` | ${names.map((name) => `\`${name}\``).join(', ')} | ${runsCode ? 'yes' : 'no'} |`;
  });
  return ['| runtime | packages ask for it as | asks for consent |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

function toSection({ id, options }: Runtime): string {
  const text = texts[id];
  if (text === undefined) throw new Error(`Cannot write "${file}": nothing is said of the runtime "${id}"`);
  return options.length === 0 ? text : `${text}\n${toOptions(options)}`;
}

function toOptions(options: readonly RuntimeOption[]): string {
  const rows = options.map(({ name, type, default: value, summary }) => {
    return `| \`${name}\` | ${type} | ${value === undefined ? '' : `\`${value}\``} | ${summary} |`;
  });
  return ['| option | type | default | meaning |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
}
