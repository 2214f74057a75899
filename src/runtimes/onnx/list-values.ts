const most = 20;

/** Names with their dtypes, for messages; of a graph with very many only the first. */
export function listValues(values: readonly { readonly name: string; readonly dtype: string }[]): string {
  if (values.length === 0) return 'none';
  const shown = values.slice(0, most).map(({ name, dtype }) => `${JSON.stringify(name)} (${dtype})`);
  return values.length > most ? `${shown.join(', ')} and ${values.length - most} more` : shown.join(', ');
}
