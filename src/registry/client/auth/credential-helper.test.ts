import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openCredentialHelper } from './credential-helper.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'helper-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A helper by the name of `fake` that is this shell script. */
function open(script: string, timeoutMs?: number) {
  const program = join(folder, 'docker-credential-fake');
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return openCredentialHelper('fake', 'config.json', { env: { PATH: `${folder}:/usr/bin:/bin`, OUT: join(folder, 'out') }, timeoutMs });
}

const refusalOf = (work: Promise<unknown>) => work.catch((error: unknown) => error);

describe('a credential helper', () => {
  it('gives a password', async () => {
    const helper = open(`cat > "$OUT"; echo '{"ServerURL":"x","Username":"ann","Secret":"hunter2"}'`);
    expect(await helper.get('reg.example')).toEqual({ kind: 'password', username: 'ann', password: 'hunter2' });
    expect(readFileSync(join(folder, 'out'), 'utf8')).toBe('reg.example');
  });

  it('gives an identity token', async () => {
    expect(await open(`echo '{"Username":"<token>","Secret":"abc"}'`).get('x')).toEqual({ kind: 'identity-token', token: 'abc' });
  });

  it.each(['echo "credentials not found in native keychain"; exit 1', 'echo "error: Credentials not found in native keychain (1)" >&2; exit 2'])(
    'has none: %s',
    async (script) => {
      expect(await open(script).get('x')).toBeUndefined();
    },
  );

  it('has none when the secret is empty', async () => {
    expect(await open(`echo '{"Username":"","Secret":""}'`).get('x')).toBeUndefined();
  });

  it('is told what to keep and what to forget', async () => {
    const helper = open(`echo "$1" >> "$OUT"; cat >> "$OUT"; echo >> "$OUT"`);
    await helper.store('reg.example', 'ann', 'hunter2');
    await helper.erase('reg.example');
    expect(readFileSync(join(folder, 'out'), 'utf8').split('\n')).toEqual([
      'store',
      '{"ServerURL":"reg.example","Username":"ann","Secret":"hunter2"}',
      'erase',
      'reg.example',
      '',
    ]);
  });

  it('is not told anything by a shell', async () => {
    const helper = open(`cat > "$OUT"; echo "credentials not found in native keychain"; exit 1`);
    const server = `"; touch ${join(folder, 'evil')}; $(touch ${join(folder, 'evil')})`;
    expect(await helper.get(server)).toBeUndefined();
    expect(readFileSync(join(folder, 'out'), 'utf8')).toBe(server);
    expect(existsSync(join(folder, 'evil'))).toBe(false);
  });

  it.each([
    ['that fails', 'echo hunter2; echo hunter2 >&2; exit 3', 'status 3'],
    ['that is killed', 'kill -9 $$', 'a signal'],
    ['that answers no JSON', 'echo "{hunter2"', 'expected JSON'],
    ['that answers a list', `echo '["hunter2"]'`, 'expected JSON'],
    ['that answers half', `echo '{"Secret":"hunter2"}'`, 'expected JSON'],
    ['that answers without end', 'exec cat /dev/zero', 'more than 1048576 bytes'],
    ['that complains without end', 'exec cat /dev/zero >&2', 'more than 1048576 bytes'],
  ])('%s stops the work and shows nothing', async (_what, script, reason) => {
    const refusal = await refusalOf(open(script).get('reg.example'));
    expect(refusal).toMatchObject({ code: 'registry/credentials', message: expect.stringContaining(reason), where: 'config.json' });
    expect(inspect(refusal)).not.toContain('hunter2');
  });

  it('that does not answer is ended, and what it leaves behind is not waited for', async () => {
    const helper = open('tail -f /dev/null & echo "$! $$" > "$OUT"; wait', 1000);
    expect(await refusalOf(helper.get('x'))).toMatchObject({ code: 'registry/credentials', message: expect.stringContaining('within 1 s') });
    const [left, own] = readFileSync(join(folder, 'out'), 'utf8').split(' ').map(Number);
    process.kill(left!);
    await vi.waitFor(() => expect(() => process.kill(own!, 0)).toThrow('ESRCH'));
  });

  it('that reads nothing may end well', async () => {
    await open('exec 0<&-; exit 0').store('x', 'ann', 'y'.repeat(500_000));
    expect(await refusalOf(open('exec 0<&-; exit 1').store('x', 'ann', 'y'.repeat(500_000)))).toMatchObject({ code: 'registry/credentials' });
  });

  it('that does not exist is named, with what to do', async () => {
    const helper = openCredentialHelper('absent', '/home/ann/.docker/config.json', { env: { PATH: folder } });
    expect(await refusalOf(helper.get('x'))).toMatchObject({
      code: 'registry/credentials',
      message: expect.stringMatching(/"docker-credential-absent".*no such program/),
      hint: expect.stringContaining('/home/ann/.docker/config.json'),
    });
  });

  it('is not started against a no', async () => {
    open('touch "$OUT"');
    const asked: string[] = [];
    const confirm = async (program: string) => {
      asked.push(program);
      return false;
    };
    const helper = openCredentialHelper('fake', 'config.json', { env: { PATH: folder, OUT: join(folder, 'out') }, confirm });
    expect(await refusalOf(helper.get('x'))).toMatchObject({ code: 'registry/credentials', message: expect.stringContaining('not allowed') });
    expect(asked).toEqual(['docker-credential-fake']);
    expect(existsSync(join(folder, 'out'))).toBe(false);
  });

  it.each(['../../bin/sh', 'a/b', 'a\\b', '..', 'a..b', '', 'a b', 'a;b', '$(x)', 'a\n', 5, null, { a: 1 }])('cannot be called %j', (suffix) => {
    expect(() => openCredentialHelper(suffix, 'config.json', { env: {} })).toThrow(
      expect.objectContaining({ code: 'registry/credentials', where: 'config.json' }),
    );
  });
});
