import { badLine, listLines } from './access-file.js';

export interface PasswordTable {
  /** Name → bcrypt hash. */
  readonly users: ReadonlyMap<string, string>;
  /** What a stranger is compared with, so that a name that is unknown costs as much time as one that is known. */
  readonly decoy: string;
}

const bcryptShape = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** Each step doubles the work: 15 keeps a core busy for seconds a login. */
const mostRounds = 15;
const leastRounds = 4;

/** What `htpasswd -B` uses. */
const usualRounds = '05';

/** An htpasswd file. Throws `registry/bad-access-file` with the line for any hash but bcrypt's, which can be tried out too quickly by whoever steals it. */
export function parsePasswordFile(text: string, where: string): PasswordTable {
  const users = new Map<string, string>();
  let most = usualRounds;
  for (const line of listLines(text, where)) {
    const colon = line.text.indexOf(':');
    const name = line.text.slice(0, colon);
    if (colon < 1) throw badLine(where, line, 'expected NAME:HASH', `Add a user with \`htpasswd -B ${where} NAME\``);
    const hash = line.text.slice(colon + 1);
    const [, rounds] = bcryptShape.exec(hash) ?? [];
    if (rounds === undefined) throw badLine(where, line, 'the hash is not bcrypt', `Hash the password again with \`htpasswd -B ${where} NAME\``);
    if (Number(rounds) > mostRounds || Number(rounds) < leastRounds) {
      const reason = `expected ${leastRounds} to ${mostRounds} rounds of bcrypt, found ${Number(rounds)}`;
      throw badLine(where, line, reason, `Hash the password again with \`htpasswd -B -C 10 ${where} NAME\``);
    }
    if (users.has(name)) throw badLine(where, line, `the user ${JSON.stringify(name)} stands there twice`, 'Remove one of the two lines');
    users.set(name, hash);
    if (Number(rounds) > Number(most)) most = rounds;
  }
  return { users, decoy: `$2b$${most}$${'.'.repeat(53)}` };
}
