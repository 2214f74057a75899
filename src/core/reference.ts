import { type Digest, parseDigest } from './digest.js';
import { createError } from './error.js';

/** A package name: `[HOST[:PORT]/]REPO[:TAG][@DIGEST]`. */
export interface Reference {
  /** Absent for a name that lives in the local store only. */
  readonly host?: string;
  readonly repository: string;
  /** `latest` when neither tag nor digest was written; absent when only a digest was. */
  readonly tag?: string;
  readonly digest?: Digest;
}

/** distribution-spec 1.1, Pulling manifests: the grammars of `<name>` and of `<reference>` as a tag. */
const repositoryGrammar = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const tagGrammar = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const hostGrammar = /^(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*)(?::[0-9]{1,5})?$/;
const maxNameLength = 255;

/** Whether a text is a repository, and nothing else: to be asked before it becomes part of a path or an address. */
export function isRepository(text: string): boolean {
  return text.length <= maxNameLength && repositoryGrammar.test(text);
}

export function isTag(text: string): boolean {
  return tagGrammar.test(text);
}

/** Text → reference. Throws `core/bad-reference` that says which part is wrong and why. */
export function parseReference(text: string): Reference {
  const at = text.indexOf('@');
  const digest = at < 0 ? undefined : parseDigest(text.slice(at + 1), text);
  const named = at < 0 ? text : text.slice(0, at);
  const { host, rest } = splitHost(named);
  const colon = rest.lastIndexOf(':');
  const repository = colon < 0 ? rest : rest.slice(0, colon);
  const tag = colon < 0 ? undefined : rest.slice(colon + 1);
  judge(text, host, repository, tag);
  const effectiveTag = tag ?? (digest === undefined ? 'latest' : undefined);
  return {
    ...(host === undefined ? {} : { host }),
    repository,
    ...(effectiveTag === undefined ? {} : { tag: effectiveTag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

function splitHost(text: string): { host?: string; rest: string } {
  const slash = text.indexOf('/');
  const first = slash < 0 ? '' : text.slice(0, slash);
  const isHost = first.includes('.') || first.includes(':') || first === 'localhost';
  return isHost ? { host: first, rest: text.slice(slash + 1) } : { rest: text };
}

function judge(text: string, host: string | undefined, repository: string, tag: string | undefined): void {
  if (host !== undefined && !hostGrammar.test(host)) throw refuse(text, `${JSON.stringify(host)} is not a host name with an optional port`);
  if (repository === '') throw refuse(text, 'the repository is empty');
  if (repository !== repository.toLowerCase()) {
    throw refuse(text, 'a repository is written in lower case', `Write ${JSON.stringify(text.replace(repository, repository.toLowerCase()))}`);
  }
  if (!repositoryGrammar.test(repository)) {
    throw refuse(text, `the repository ${JSON.stringify(repository)} may hold only a-z, 0-9 and single . _ __ - between them, in parts joined by /`);
  }
  if ((host?.length ?? 0) + repository.length > maxNameLength)
    throw refuse(text, `host and repository together are longer than ${maxNameLength} characters`);
  if (tag !== undefined && !tagGrammar.test(tag)) {
    throw refuse(text, `the tag ${JSON.stringify(tag)} must be 1 to 128 of A-Z a-z 0-9 _ . - and begin with neither . nor -`);
  }
}

function refuse(text: string, reason: string, hint = 'A name looks like demo/digits:v1 or registry.example.com/team/model:1.0'): Error {
  return createError('core/bad-reference', { message: `Cannot use the name ${JSON.stringify(text)}: ${reason}`, hint });
}

/** The name under which a store's index holds it: host, repository and tag in full, without the digest. */
export function toStoreName(reference: Reference): string {
  const name = reference.host === undefined ? reference.repository : `${reference.host}/${reference.repository}`;
  return reference.tag === undefined ? name : `${name}:${reference.tag}`;
}

export function toText(reference: Reference): string {
  return reference.digest === undefined ? toStoreName(reference) : `${toStoreName(reference)}@${reference.digest}`;
}
