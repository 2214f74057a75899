import type { CliIo } from './io.js';

/** Whether somebody can be asked. */
export function hasPerson({ stdin, stderr }: CliIo): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** A question with yes or no; without a terminal nobody is asked and the answer is no. Escape and Ctrl-C are no, too. */
export async function askYesNo(io: CliIo, question: string): Promise<boolean> {
  if (!hasPerson(io)) return false;
  const { confirm } = await import('@clack/prompts');
  const answer = await confirm({
    message: question,
    initialValue: false,
    input: io.stdin as NodeJS.ReadStream,
    output: io.stderr as NodeJS.WriteStream,
    signal: io.signal,
  });
  return answer === true;
}
