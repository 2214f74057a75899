export type FindingLevel = 'error' | 'warning' | 'note';

/**
 * Something that is wrong or odd in a person's data. Being unable to go on is a ToolkitError instead.
 * `code` is `<room or format>/<what>`, `rule` the number in the table of the specification, `where` the file, field or entry.
 */
export interface Finding {
  readonly level: FindingLevel;
  readonly code: string;
  readonly rule?: string;
  readonly message: string;
  readonly where?: string;
  readonly hint?: string;
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some((finding) => finding.level === 'error');
}
