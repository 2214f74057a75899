import type { Scope } from './auth.js';

/** As token services write it: `TYPE:NAME:ACTION,ACTION`. */
export function toScopeText(scope: Scope): string {
  return scope.kind === 'catalog' ? 'registry:catalog:*' : `repository:${scope.name}:${scope.actions.join(',')}`;
}

/** The same rights in one spelling: one text a resource, actions sorted and unique, texts sorted. */
export function mergeScopes(texts: readonly string[]): readonly string[] {
  return [...toRights(texts)]
    .map(([resource, actions]) => [resource, ...(actions.size === 0 ? [] : [[...actions].sort().join(',')])].join(':'))
    .sort();
}

/** Whether a token for `have` is good for `want`. */
export function coversScopes(have: readonly string[], want: readonly string[]): boolean {
  const rights = toRights(have);
  return [...toRights(want)].every(([resource, actions]) => {
    const held = rights.get(resource);
    return held !== undefined && (held.has('*') || [...actions].every((action) => held.has(action)));
  });
}

/** Names may hold colons (`HOST:PORT/NAME`), actions never do. What has no actions of this form counts as a resource by itself. */
function toRights(texts: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const rights = new Map<string, Set<string>>();
  for (const text of texts) {
    const [, resource = text, actions = ''] = /^([^:]+:.+):([^:]*)$/.exec(text) ?? [];
    const held = rights.get(resource) ?? new Set();
    for (const action of actions.split(',')) if (action !== '') held.add(action);
    rights.set(resource, held);
  }
  return rights;
}
