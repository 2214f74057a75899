/** docs/error-codes.md, from the closed table in core. */
import { errorCodes } from '../src/core/index.js';

export const file = 'docs/error-codes.md';

const intro = `# Error codes

Generated from \`src/core/error-codes.ts\` by \`npm run docs\`.

An error is what stops a command. It is printed as message, place and hint; with \`--json\` it is one document on stdout,
\`{ "error": { "code", "message", "hint", "where" } }\`. Codes are stable: scripts may match them. The exit status says the kind:

| exit | meaning |
| --- | --- |
| 0 | done and good |
| 1 | the package has errors |
| 2 | wrong usage |
| 3 | the world: disk, network, a missing file or program |
| 70 | a bug of modelport |

Wrong data that can be described is a *finding* with the code and number of its rule: see the pages of the formats.
`;

export function generate(): string {
  const codes = Object.entries(errorCodes);
  const rooms = new Set(codes.map(([code]) => toRoom(code)));
  const sections = [...rooms].map((room) => {
    const rows = codes.filter(([code]) => toRoom(code) === room).map(([code, { exit, title }]) => `| \`${code}\` | ${exit} | ${title} |`);
    return [`## ${room}`, '', '| code | exit | meaning |', '| --- | --- | --- |', ...rows, ''].join('\n');
  });
  return [intro, ...sections].join('\n');
}

function toRoom(code: string): string {
  return code.slice(0, code.indexOf('/'));
}
