import { type Finding, matchesVersion, parseVersionRequirement, type RunnableModel, type RuntimeEnvironment } from '../../core/index.js';
import { findInterpreters, type Interpreter } from './interpreter.js';

/** What a runtime wants of a Python. */
export interface Wanted {
  /** `Python`, `torch`: whose version the model's requirement is about. */
  readonly framework: string;
  /** Undefined when the interpreter does not have it. */
  readonly versionOf: (interpreter: Interpreter) => string | undefined;
  /** Whether nothing is missing. One with all is preferred, one without is chosen when there is no other. */
  readonly isComplete: (interpreter: Interpreter) => boolean;
  /** How the framework can be had. */
  readonly installHint: string;
}

export type Choice =
  | { readonly kind: 'found'; readonly interpreter: Interpreter; readonly version: string; readonly findings: readonly Finding[] }
  | { readonly kind: 'none'; readonly reason: string; readonly hint: string };

const searched = 'MODELPORT_PYTHON, PATH and the virtual environments of MODELPORT_PYTHONS are searched';

/** The first Python whose framework has the version that a model asks for; with `anyVersion` the first that has the framework at all, with a warning. */
export async function chooseInterpreter(model: RunnableModel, wanted: Wanted, environment: RuntimeEnvironment): Promise<Choice> {
  const requirement = parseVersionRequirement(model.version ?? '*');
  const asked = JSON.stringify(model.version ?? '*');
  if ('problem' in requirement && environment.anyVersion !== true) {
    return { kind: 'none', reason: `it asks for ${wanted.framework} ${asked}: ${requirement.problem}`, hint: 'Choose one with --framework-version' };
  }
  const others: Interpreter[] = [];
  let incomplete: Interpreter | undefined;
  for await (const interpreter of findInterpreters(environment)) {
    const version = wanted.versionOf(interpreter);
    if (version === undefined) continue;
    const fits = model.version === undefined || (!('problem' in requirement) && matchesVersion(requirement, version));
    if (!fits) others.push(interpreter);
    else if (wanted.isComplete(interpreter)) return { kind: 'found', interpreter, version, findings: [] };
    else incomplete ??= interpreter;
  }
  if (incomplete !== undefined) return { kind: 'found', interpreter: incomplete, version: wanted.versionOf(incomplete) ?? '', findings: [] };
  return chooseOther(others, asked, wanted, environment.anyVersion === true);
}

function chooseOther(others: readonly Interpreter[], asked: string, wanted: Wanted, anyVersion: boolean): Choice {
  const best = others.find(wanted.isComplete) ?? others[0];
  if (best === undefined) return { kind: 'none', reason: `no ${wanted.framework} is on this machine`, hint: `${wanted.installHint}; ${searched}` };
  const versions = others.map((other) => wanted.versionOf(other) ?? '');
  const version = wanted.versionOf(best) ?? '';
  if (!anyVersion) {
    const reason = `it asks for ${wanted.framework} ${asked}, and here ${versions.length === 1 ? 'is' : 'are'} ${versions.join(', ')}`;
    return { kind: 'none', reason, hint: `${wanted.installHint}, or run it with another version: --framework-version '*'; ${searched}` };
  }
  const message = `The model asks for ${wanted.framework} ${asked} and is run with ${version}`;
  return { kind: 'found', interpreter: best, version, findings: [{ level: 'warning', code: 'runtime/other-version', message }] };
}
