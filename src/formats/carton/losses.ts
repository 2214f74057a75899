import type { Description, Finding, ModelPackage } from '../../core/index.js';

const identityFields = ['version', 'authors', 'vendor', 'family', 'documentation', 'datasets', 'revision', 'createdAt'] as const;
const runFields = ['command', 'environment', 'workingDirectory', 'timeout', 'resources'] as const;

/** What the package or its description says and a carton has no field for, one finding a field. */
export function listLosses(pkg: ModelPackage, description: Description, runner: string): readonly Finding[] {
  // What was read from the files of a folder travels in those files; what a person or another format said does not.
  const { identity, capabilities } = pkg.format === 'folder' ? description : pkg;
  const { run } = pkg;
  const title = identity.name === undefined || identity.title === identity.name ? undefined : identity.title;
  const fields: readonly (readonly [string, unknown])[] = [
    ['package.title', title],
    ...identityFields.map((key) => [`package.${key}`, identity[key]] as const),
    ...Object.entries(description.weights).map(([key, value]) => [`weights.${key}`, value] as const),
    ...Object.entries(capabilities).map(([key, value]) => [`capabilities.${key}`, value] as const),
    ...runFields.map((key) => [`run.${key}`, run[key]] as const),
    ['run.entrypoint', runner === 'python' ? undefined : run.entrypoint],
    ['self_test', pkg.samples === undefined && pkg.io.selfTests > 0 ? pkg.io.selfTests : undefined],
    ['example', pkg.samples === undefined && pkg.io.examples > 0 ? pkg.io.examples : undefined],
  ];
  return fields.filter(([, value]) => isStated(value)).map(([field]) => notCarried(field));
}

function isStated(value: unknown): boolean {
  if (value === undefined || value === '') return false;
  return typeof value !== 'object' || value === null || Object.keys(value).length > 0;
}

function notCarried(field: string): Finding {
  return { level: 'note', code: 'carton/not-carried', message: `A carton has no place for ${field}`, where: field };
}
