/** One way to log in that a registry offers. What it does not say is undefined. */
export type Challenge =
  | { readonly kind: 'basic' }
  | { readonly kind: 'bearer'; readonly realm: string; readonly service: string | undefined; readonly scopes: readonly string[] };

/** Far beyond what registries send; a longer header is read as if it were empty. In characters. */
const longestHeader = 16 * 1024;

const separator = /[\s,]*/y;
const parameter = /([!#$%&'*+.^_`|~\w-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^])*)"|([^\s,"]+))/y;
const scheme = /([!#$%&'*+.^_`|~\w-]+)(?:[ \t]+[\w.~+/-]+=*(?=[ \t]*(?:,|$)))?/y;

interface Draft {
  readonly scheme: string;
  readonly parameters: Map<string, string>;
}

/**
 * `WWW-Authenticate`, also several joined by commas → what modelport can do of it, in order. Other schemes and whatever follows no
 * grammar are passed over; of a repeated key the first counts. (RFC 9110, 11.6.1; RFC 6750, 3)
 */
export function parseChallenges(header: string): readonly Challenge[] {
  return header.length > longestHeader ? [] : readDrafts(header).flatMap(toChallenge);
}

function readDrafts(header: string): readonly Draft[] {
  const drafts: Draft[] = [];
  for (let at = end(separator, header, 0); at < header.length; at = end(separator, header, at)) {
    const found = match(parameter, header, at);
    if (found === null) {
      const named = match(scheme, header, at);
      if (named?.[1] !== undefined) drafts.push({ scheme: named[1].toLowerCase(), parameters: new Map() });
      at += named?.[0].length ?? 1;
    } else {
      addParameter(drafts.at(-1)?.parameters, found);
      at += found[0].length;
    }
  }
  return drafts;
}

function addParameter(parameters: Map<string, string> | undefined, [, key = '', quoted, plain = '']: RegExpExecArray): void {
  const name = key.toLowerCase();
  if (parameters?.has(name) === false) parameters.set(name, quoted?.replace(/\\([^])/g, '$1') ?? plain);
}

function toChallenge({ scheme: name, parameters }: Draft): Challenge[] {
  if (name === 'basic') return [{ kind: 'basic' }];
  const realm = parameters.get('realm');
  if (name !== 'bearer' || realm === undefined) return [];
  const scopes = (parameters.get('scope') ?? '').split(/\s+/).filter((scope) => scope !== '');
  return [{ kind: 'bearer', realm, service: parameters.get('service'), scopes }];
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function end(pattern: RegExp, text: string, at: number): number {
  return at + (match(pattern, text, at)?.[0].length ?? 0);
}
