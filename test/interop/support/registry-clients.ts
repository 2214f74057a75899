import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserPassword } from '../../support/registry/basic-credentials.js';
import { Podman } from './podman.js';
import type { Scene } from './scene.js';
import type { Outcome, Surroundings } from './tools.js';

/** Where a client keeps its logins: variables for its process. */
export type LoginEnv = Readonly<Record<string, string>>;

/** What a tool does at a registry without TLS, in its own way. Outcomes are the tool's. */
export interface RegistryClient {
  /** What it does not try for minutes when it may not do it. */
  readonly givesUp: readonly ('pull' | 'push')[];
  login(host: string, user: UserPassword, env: LoginEnv): Promise<Outcome>;
  /** The model of the scene, in a form that it can take apart. */
  push(name: string, env: LoginEnv): Promise<Outcome>;
  /** What it has pushed; when that went well the files of the model are in `output`. */
  pull(name: string, output: string, env: LoginEnv): Promise<Outcome>;
}

/** Logins of nobody yet. */
export function createLoginEnv(scene: Scene): LoginEnv {
  const folder = scene.place.path('logins');
  mkdirSync(folder);
  const file = join(folder, 'config.json');
  writeFileSync(file, '{}');
  return { HOME: folder, DOCKER_CONFIG: folder, REGISTRY_AUTH_FILE: file };
}

export const registryClients = {
  skopeo: createSkopeo,
  oras: createOras,
  crane: createCrane,
  modctl: createModctl,
  podman: createPodman,
} satisfies Readonly<Record<string, (scene: Scene) => RegistryClient>>;

const passwordTo = ({ user, password }: UserPassword, env: LoginEnv): [readonly string[], Surroundings] => [
  ['-u', user, '--password-stdin'],
  { env, input: Buffer.from(password) },
];

function createSkopeo(scene: Scene): RegistryClient {
  const skopeo = (args: readonly string[], around: Surroundings) => scene.place.runTool('skopeo', ['--insecure-policy', ...args], around);
  const copy = ['copy', '--quiet', '--preserve-digests', '--src-tls-verify=false', '--dest-tls-verify=false'];
  return {
    givesUp: ['push', 'pull'],
    login: (host, user, env) => {
      const [options, around] = passwordTo(user, env);
      return skopeo(['login', '--tls-verify=false', ...options, host], around);
    },
    push: (name, env) => skopeo([...copy, `oci:${scene.layout}:v1`, `docker://${name}`], { env }),
    pull: (name, output, env) => pullLayout(scene, output, (layout) => skopeo([...copy, `docker://${name}`, `oci:${layout}:v1`], { env })),
  };
}

function createOras(scene: Scene): RegistryClient {
  const oras = (args: readonly string[], around: Surroundings) => scene.place.runTool('oras', args, around);
  return {
    givesUp: ['push', 'pull'],
    login: (host, user, env) => {
      const [options, around] = passwordTo(user, env);
      return oras(['login', '--plain-http', ...options, host], around);
    },
    push: (name, env) => oras(['cp', '--no-tty', '--from-oci-layout', '--to-plain-http', `${scene.layout}:v1`, name], { env }),
    pull: (name, output, env) =>
      pullLayout(scene, output, (layout) => oras(['cp', '--no-tty', '--from-plain-http', '--to-oci-layout', name, `${layout}:v1`], { env })),
  };
}

function createCrane(scene: Scene): RegistryClient {
  const crane = (args: readonly string[], around: Surroundings) => scene.place.runTool('crane', args, around);
  return {
    givesUp: ['push', 'pull'],
    login: (host, user, env) => {
      const [options, around] = passwordTo(user, env);
      return crane(['auth', 'login', ...options, host], around);
    },
    push: async (name, env) => {
      // It takes layouts of one manifest.
      const sole = scene.place.path('sole');
      await scene.place.must(['copy', `oci:${scene.layout}:v1`, `oci:${sole}:v1`]);
      return crane(['push', sole, name], { env });
    },
    pull: (name, output, env) => pullLayout(scene, output, (layout) => crane(['pull', '--format', 'oci', name, layout], { env })),
  };
}

function createModctl(scene: Scene): RegistryClient {
  const modctl = (args: readonly string[], around: Surroundings) => scene.place.runTool('modctl', args, around);
  const quiet = ['--no-progress', '--plain-http'];
  return {
    givesUp: ['pull'],
    // It reads passwords from terminals and arguments alone, whatever --password-stdin says.
    login: (host, { user, password }, env) => modctl(['login', '--plain-http', '-u', user, '-p', password, host], { env }),
    push: (name, env) => modctl(['build', ...quiet, '--output-remote', '-t', name, '-f', writeModelfile(scene), scene.model], { env }),
    pull: (name, output, env) => modctl(['pull', ...quiet, '--extract-dir', output, name], { env }),
  };
}

export function writeModelfile(scene: Scene): string {
  const file = scene.place.path('Modelfile');
  const rules = ['NAME by-modctl', 'MODEL *.safetensors', 'MODEL *.onnx', 'MODEL *.pt', 'CODE *.py', 'CONFIG samples.json', 'DOC README.md'];
  writeFileSync(file, `${rules.join('\n')}\n`);
  return file;
}

function createPodman(scene: Scene): RegistryClient {
  const podman = new Podman(join(scene.place.folder, 'podman'));
  return {
    givesUp: ['push', 'pull'],
    login: async (host, user, env) => {
      const [options, around] = passwordTo(user, env);
      return podman.run(['login', '--tls-verify=false', ...options, host], around);
    },
    push: async (name, env) => {
      const id = podman.must(['pull', '--quiet', `oci:${scene.layout}:v1-image`]).trim();
      return podman.run(['push', '--quiet', '--tls-verify=false', id, name], { env });
    },
    pull: async (name, output, env) => {
      podman.must(['rmi', '--all', '--force']);
      const outcome = podman.run(['pull', '--quiet', '--tls-verify=false', name], { env });
      if (outcome.code === 0) podman.copyOutOfMount(outcome.stdout.trim(), output);
      return outcome;
    },
  };
}

async function pullLayout(scene: Scene, output: string, pull: (layout: string) => Promise<Outcome>): Promise<Outcome> {
  const layout = scene.place.path('layout');
  const outcome = await pull(layout);
  if (outcome.code === 0) await scene.place.must(['unpack', `oci:${layout}`, '-o', output]);
  return outcome;
}
