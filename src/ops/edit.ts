import { basename } from 'node:path';
import { lstatSync } from 'node:fs';
import { toIoError } from '../bytes/index.js';
import { classify } from '../buildfile/index.js';
import { createError, type Digest, type Finding, type ModelPackage, parseReference, type Part, type Role, roles } from '../core/index.js';
import { editModelpack, type ModelpackEdits } from '../formats/index.js';
import { sendLayers } from './convert.js';
import type { OpsContext } from './context.js';
import { applySettings } from './identity-fields.js';
import { writeContext } from './pack.js';
import { distinct, openPackage } from './package.js';
import { toAbsolute } from './paths.js';
import type { EditResult } from './results.js';
import { parseSettings } from './settings.js';
import type { ShelfSource } from './source.js';
import { isRemote } from './remote-reference.js';
import { openRemoteTarget, openTarget, type Target } from './target.js';

export interface EditOptions {
  readonly location: string;
  /** File or folder for the new package. */
  readonly output?: string;
  /** Name for the new package, where the source is; without it and `output` the source's own name moves. */
  readonly name?: string;
  /** `key=value` or `key=@file`. */
  readonly set?: readonly string[];
  /** `FILE` or `FILE:role`; it lies at the top of the package under its own name. */
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

/** A changed copy. What nothing is said about keeps its stored bytes: no weight is read, hashed or sent again. */
export async function edit(options: EditOptions, context: OpsContext): Promise<EditResult> {
  const { source, pkg } = await openPackage(options.location, context);
  if (pkg.format !== 'modelpack' || source.kind !== 'oci') {
    throw createError('format/unsupported', {
      message: `Cannot edit "${options.location}": it is ${source.kind === 'folder' ? 'a bare folder' : `a ${pkg.format}`}`,
      hint: 'Pack it first: `modelport pack DIR -t NAME`',
    });
  }
  const edits = await readEdits(pkg, options, context);
  const target = await openEditTarget(options, source, context);
  try {
    const edited = await editModelpack(source, edits, target.blobs, { ...writeContext(context), layers: { byRole: {} }, platform: 'linux/amd64' });
    const bytes = { ...(await sendLayers(source, target, context, edited.kept)) };
    for (const blob of edited.written) {
      bytes.total += blob.size;
      bytes[blob.fresh ? 'sent' : 'skipped'] += blob.size;
    }
    await target.publish(edited.root);
    await target.finish();
    const changed = changesOf(options);
    return {
      digest: edited.root.digest,
      from: source.root.digest,
      name: target.name,
      path: target.path,
      bytes,
      lost: [],
      changed,
      copied: [{ name: target.name, digest: edited.root.digest }],
      findings: distinct([...edited.findings, ...signatureNote(source.root.digest, edited.root.digest)]),
    };
  } finally {
    await target.close();
  }
}

/** A new name is one of the place where the source is; without any, the source's own name moves. */
async function openEditTarget(options: EditOptions, source: ShelfSource, context: OpsContext): Promise<Target> {
  const { name = source.from === 'place' || options.output !== undefined ? undefined : source.name, output } = options;
  if (name === undefined && output === undefined) {
    throw createError('ops/bad-option', {
      message: `Cannot edit "${options.location}" in its place`,
      hint: 'Give the new package a name with -t NAME, or a file with -o PATH',
    });
  }
  const reference = name === undefined || output !== undefined ? undefined : parseReference(name);
  return name !== undefined && source.from === 'registry' && reference !== undefined && isRemote(reference)
    ? openRemoteTarget(reference, name, context)
    : openTarget({ name, output }, context);
}

async function readEdits(pkg: ModelPackage, options: EditOptions, context: OpsContext): Promise<ModelpackEdits> {
  const { set = [], add = [], remove = [] } = options;
  if (set.length + add.length + remove.length === 0)
    throw createError('ops/bad-option', {
      message: 'Cannot edit: nothing was said to change',
      hint: 'Use --set KEY=VALUE, --add FILE[:role] or --remove PATH',
    });
  return { described: applySettings(pkg, await parseSettings(set, context)), add: add.map((word) => readAdded(word, context)), remove };
}

/** `FILE[:role]`: the role is what follows the last colon, when it is one. */
function readAdded(word: string, context: OpsContext): Part {
  const colon = word.lastIndexOf(':');
  const role = roles.find((each) => each === word.slice(colon + 1));
  const path = toAbsolute(colon > 0 && role !== undefined ? word.slice(0, colon) : word, context);
  try {
    const stat = lstatSync(path);
    if (!stat.isFile())
      throw createError('ops/bad-option', {
        message: `Cannot add "${word}": it is not a plain file`,
        hint: `Roles: ${roles.join(', ')}`,
        where: path,
      });
    const given: { role: Role; guessed?: boolean } =
      role === undefined ? { role: classify(basename(path), stat.size, stat.mode).role, guessed: true } : { role };
    return { ...given, path: basename(path), size: stat.size, mode: stat.mode & 0o777, content: { kind: 'file', path, size: stat.size } };
  } catch (error) {
    throw toIoError(error, 'add', path);
  }
}

function changesOf({ set = [], add = [], remove = [] }: EditOptions): string[] {
  return [
    ...set.map((word) => `set ${word.slice(0, word.indexOf('='))}`),
    ...add.map((word) => `add ${word}`),
    ...remove.map((path) => `remove ${path}`),
  ];
}

function signatureNote(from: Digest, to: Digest): Finding[] {
  if (from === to) return [];
  return [
    {
      level: 'note',
      code: 'edit/signatures',
      message: `Signatures and other things attached to ${from} do not belong to ${to} and were not taken along`,
      hint: 'Sign the new package',
    },
  ];
}
