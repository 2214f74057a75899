import { hasPerson } from './ask.js';
import { usageError } from './errors.js';
import type { CliIo } from './io.js';

const passwordBytes = 64 * 1024;

/** What was written on the command line, else what a person at the terminal says. */
export async function readUsername(io: CliIo, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '') return given;
  if (!hasPerson(io)) throw usageError('Cannot log in: the user is missing', 'Add -u NAME');
  const { text } = await import('@clack/prompts');
  return answered(await text({ message: 'User', ...streams(io) }));
}

/** Never from the command line, where everybody on the machine could read it. */
export async function readPassword(io: CliIo, fromStdin: boolean): Promise<string> {
  if (fromStdin) return readStdin(io);
  if (!hasPerson(io))
    throw usageError('Cannot log in: nobody is there to be asked for the password', 'Add --password-stdin and write it to standard input');
  const { password } = await import('@clack/prompts');
  return answered(await password({ message: 'Password or access token', ...streams(io) }));
}

function streams(io: CliIo) {
  return { input: io.stdin as NodeJS.ReadStream, output: io.stderr as NodeJS.WriteStream, signal: io.signal };
}

function answered(answer: unknown): string {
  if (typeof answer === 'string' && answer !== '') return answer;
  throw usageError('Cannot log in: nothing was entered');
}

/** One line, without its end. */
async function readStdin({ stdin }: CliIo): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk));
    size += chunk.length;
    if (size > passwordBytes) throw usageError('Cannot log in: standard input holds more than a password');
  }
  const password = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (password === '' || /[\r\n]/.test(password)) throw usageError('Cannot log in: expected one line with the password on standard input');
  return password;
}
