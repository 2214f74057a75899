/** What a token lets its bearer do: `repository:NAME:pull,push`, `registry:catalog:*`. */
export interface Access {
  readonly type: string;
  readonly name: string;
  readonly actions: readonly string[];
}

/** Undefined when the text is no scope. A name may hold colons, as in `host:5000/model`. */
export function parseScope(text: string): Access | undefined {
  const parts = /^([a-z]+):(.+):([a-z*,]+)$/.exec(text);
  if (parts === null) return undefined;
  const [, type = '', name = '', actions = ''] = parts;
  return { type, name, actions: actions.split(',') };
}

export function toScopeText({ type, name, actions }: Access): string {
  return `${type}:${name}:${actions.join(',')}`;
}

/** Whether the rights in `given` hold all that is needed. */
export function covers(given: readonly Access[], needed: Access): boolean {
  const actions = given.filter(({ type, name }) => type === needed.type && name === needed.name).flatMap((access) => access.actions);
  return needed.actions.every((action) => actions.includes(action) || actions.includes('*'));
}
