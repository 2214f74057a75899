import * as v from 'valibot';
import { type DtypeName, dtypes, findDtype, isJsonObject, roles } from '../core/index.js';
import { parseByteSize } from './byte-size.js';
import { findGlobProblem } from './glob.js';
import { parseInstant } from './instant.js';
import { anyTable, findNearest, listOf, table, tableOf, text } from '../text/index.js';
import { findPathProblem } from './person-path.js';

const optional = v.exactOptional;
const truth = v.boolean('true or false');
const texts = listOf(text);
const name = v.pipe(text, v.nonEmpty('text that is not empty'));
const count = v.pipe(v.number('a whole number'), v.safeInteger('a whole number'), v.minValue(0, 'a number that is not negative'));
const measure = v.pipe(v.number('a number'), v.finite('a finite number'), v.minValue(0, 'a number that is not negative'));

const bytesExpected = 'bytes as a whole number, or text such as "4Gi" or "512Mi"';

const instant = v.pipe(
  text,
  v.check((value) => parseInstant(value) !== undefined, 'a day such as 2026-01-31 or a time with its offset such as 2026-01-31T12:00:00Z'),
  v.transform((value) => parseInstant(value) ?? value),
);

const modality = v.picklist(['text', 'image', 'audio', 'video', 'embedding', 'other'], 'text, image, audio, video, embedding or other');
const language = v.pipe(text, v.regex(/^[a-z]{2}$/, 'two small letters such as "en"'));

const parameters = v.union(
  [count, v.pipe(text, v.regex(/^\d+(?:\.\d)?[KMBTQkmbtq]$/), v.toUpperCase())],
  'a whole number, or text such as "0.6B" (one decimal at most, then K, M, B, T or Q)',
);

const toBytes = (value: number | string): number | undefined => (typeof value === 'number' ? value : parseByteSize(value));
const byteSize = v.pipe(
  v.union([count, text], bytesExpected),
  v.check((value) => toBytes(value) !== undefined, bytesExpected),
  v.transform((value) => toBytes(value) ?? 0),
);

const dtypeNames = dtypes.map((row) => row.name);
const dtype = v.custom<DtypeName>(
  (value) => dtypeNames.includes(value as DtypeName),
  (issue) => {
    const meant = findMeantDtype(String(issue.input));
    return meant === undefined ? 'a dtype such as "float32", "int64", "bool" or "string"' : `a dtype, perhaps "${meant}"`;
  },
);

/** Other formats spell the same types in other ways: `F32`, `FP32`, `f4`. */
function findMeantDtype(word: string): string | undefined {
  const upper = word.toUpperCase();
  return (findDtype('safetensors', upper) ?? findDtype('inference', upper) ?? findDtype('npy', word))?.name ?? findNearest(word, dtypeNames);
}

/** In a list `"*"` is a dimension of any size without a name, any other text the name of one. */
const dimension = v.pipe(
  v.union([count, name], 'a size, a name, or "*" for any size'),
  v.transform((value) => (value === '*' ? null : value)),
);
const shape = v.union([v.literal('*'), v.array(dimension)], '"*" for any shape, or a list of sizes, names and "*", such as ["batch", 3, "*"]');

const tensor = table({ name, dtype: optional(dtype), shape: optional(shape), description: optional(text), internal_name: optional(text) });

/** valibot asks for the reason before it knows the value; so the reason is looked up again from the issue. */
const judgedBy = (findProblem: (value: string) => string | undefined, what: string) =>
  v.pipe(
    text,
    v.check(
      (value) => findProblem(value) === undefined,
      (issue) => `${what}, but ${findProblem(issue.input) ?? ''}`,
    ),
  );
const path = judgedBy(findPathProblem, 'the path of a file in this folder');
const globs = listOf(judgedBy(findGlobProblem, 'a file pattern'));
const files = tableOf(path, 'a table of tensor name = "file"');

const compression = v.picklist(['raw', 'tar', 'tar+gzip', 'tar+zstd'], '"raw", "tar", "tar+gzip" or "tar+zstd"');
const compressionByRole = Object.fromEntries(roles.map((role) => [role, optional(compression)]));

/** Only what docs/modelport-toml.md promises is judged here; everything else of a format is for its own writer. */
const modelpack = v.pipe(
  anyTable,
  v.looseObject({
    vintage: optional(v.picklist(['cncf', 'cnai', 'draft-2024'], '"cncf", "cnai" or "draft-2024"')),
    layers: optional(v.lazy((input) => (isJsonObject(input) ? table(compressionByRole) : compression))),
  }),
);

/** modelport.toml. (docs/modelport-toml.md) */
export const modelportToml = table({
  package: optional(
    table({
      name: optional(name),
      version: optional(text),
      title: optional(text),
      description: optional(v.union([text, table({ file: path })], 'text in quotes, or { file = "README.md" }')),
      licenses: optional(texts),
      authors: optional(texts),
      vendor: optional(text),
      family: optional(text),
      homepage: optional(text),
      repository: optional(text),
      documentation: optional(text),
      datasets: optional(texts),
      revision: optional(text),
      created: optional(instant),
    }),
  ),
  weights: optional(
    table({
      architecture: optional(text),
      format: optional(text),
      parameters: optional(parameters),
      precision: optional(text),
      quantization: optional(text),
    }),
  ),
  capabilities: optional(
    table({
      input_types: optional(listOf(modality)),
      output_types: optional(listOf(modality)),
      languages: optional(listOf(language)),
      knowledge_cutoff: optional(instant),
      reasoning: optional(truth),
      tool_usage: optional(truth),
      reward: optional(truth),
    }),
  ),
  files: optional(
    table({
      weights: optional(globs),
      config: optional(globs),
      tokenizer: optional(globs),
      code: optional(globs),
      dataset: optional(globs),
      doc: optional(globs),
      test: optional(globs),
      environment: optional(globs),
      misc: optional(globs),
      other: optional(globs),
      ignore: optional(globs),
    }),
  ),
  input: optional(v.array(tensor, 'tables, each under [[input]]')),
  output: optional(v.array(tensor, 'tables, each under [[output]]')),
  self_test: optional(
    v.array(
      table({
        name: optional(text),
        description: optional(text),
        inputs: files,
        expected: optional(files),
        rtol: optional(measure),
        atol: optional(measure),
      }),
      'tables, each under [[self_test]]',
    ),
  ),
  example: optional(
    v.array(
      table({ name: optional(text), description: optional(text), inputs: optional(files), sample_out: optional(files) }),
      'tables, each under [[example]]',
    ),
  ),
  run: optional(
    table({
      runtime: optional(text),
      version: optional(text),
      entrypoint: optional(text),
      command: optional(v.union([text, v.array(text)], 'text in quotes, or a list of it')),
      working_directory: optional(text),
      timeout: optional(measure),
      environment: optional(tableOf(text, 'a table of NAME = "value"')),
      options: optional(anyTable),
      resources: optional(
        table({
          cpu: optional(measure),
          gpu: optional(measure),
          memory: optional(byteSize),
          shared_memory: optional(byteSize),
          gpu_memory: optional(byteSize),
        }),
      ),
    }),
  ),
  format: optional(table({ modelpack: optional(modelpack), mlarchive: optional(anyTable), carton: optional(anyTable), map: optional(anyTable) })),
});

export type ModelportToml = v.InferOutput<typeof modelportToml>;
