import { describe, expect, it } from 'vitest';
import { AccessFile } from './access-file.js';
import { parsePasswordFile } from './password-file.js';
import { findToken, hashToken, parseTokenFile } from './token-file.js';

const hash = (prefix = '$2y$05$') => `${prefix}${'a'.repeat(53)}`;
const token = 'abcdefghijklmnop';

describe('a password file', () => {
  it('holds names and bcrypt hashes', () => {
    const text = `# people\r\n\r\nada:${hash()}\r\n  bo b:${hash('$2a$10$')}  \ncy:${hash('$2b$04$')}`;
    const { users, decoy } = parsePasswordFile(text, 'f');
    expect([...users]).toEqual([
      ['ada', hash()],
      ['bo b', hash('$2a$10$')],
      ['cy', hash('$2b$04$')],
    ]);
    expect(decoy).toMatch(/^\$2b\$10\$.{53}$/);
  });

  it('may be empty: nobody gets in', () => {
    expect(parsePasswordFile('', 'f').users.size).toBe(0);
  });

  it.each([
    ['ada', 'expected NAME:HASH', 'htpasswd -B'],
    [':x', 'expected NAME:HASH', 'htpasswd -B'],
    ['ada:secret', 'not bcrypt', 'htpasswd -B'],
    ['ada:{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk=', 'not bcrypt', 'htpasswd -B'],
    ['ada:$apr1$x$y', 'not bcrypt', 'htpasswd -B'],
    [`ada:${hash('$2x$05$')}`, 'not bcrypt', 'htpasswd -B'],
    [`ada:${hash()}x`, 'not bcrypt', 'htpasswd -B'],
    [`ada:${hash('$2b$31$')}`, 'found 31', 'htpasswd -B -C 10'],
    [`ada:${hash('$2b$03$')}`, 'found 3', 'htpasswd -B -C 10'],
    [`bob:${hash()}`, 'twice', 'Remove one'],
  ])('with the line %j is refused, and the line is named', (line, reason, hint) => {
    expect(() => parsePasswordFile(`bob:${hash()}\n${line}\n`, 'pw')).toThrow(
      expect.objectContaining({
        code: 'registry/bad-access-file',
        where: 'pw:2',
        message: expect.stringMatching(new RegExp(`^Cannot use line 2 of "pw": .*${reason}`)),
        hint: expect.stringContaining(hint),
      }),
    );
  });

  it('of a megabyte is none', () => {
    expect(() => parsePasswordFile('x'.repeat(1024 * 1024 + 1), 'pw')).toThrow(expect.objectContaining({ code: 'registry/bad-access-file' }));
  });
});

describe('a token file', () => {
  it('holds tokens or hashes of tokens, and what they allow', () => {
    const other = hashToken('another-token-of-ours');
    const text = `# machines\n${token}\n\n${'p'.repeat(16)}\tpull\nsha256:${other.toString('hex').toUpperCase()}  pull,push\n`;
    const table = parseTokenFile(text, 'f');
    expect(table.tokens.map(({ name, rights }) => [name, [...rights]])).toEqual([
      ['token-2', ['pull', 'push', 'delete']],
      ['token-4', ['pull']],
      ['token-5', ['pull', 'push']],
    ]);
    expect(findToken(table, 'another-token-of-ours')?.name).toBe('token-5');
    expect(findToken(table, token)?.name).toBe('token-2');
    expect(findToken(table, `${token}x`)).toBeUndefined();
    expect(findToken(table, other.toString('hex'))).toBeUndefined();
  });

  it.each([
    ['short', 'at least 16 characters, found 5'],
    ['sha256:abc', '64 hex digits'],
    [`${'q'.repeat(16)} admin`, 'pull, push or delete'],
    [`${'q'.repeat(16)} pull,`, 'pull, push or delete'],
    [`${'q'.repeat(16)} pull push`, 'at most one word'],
    [token, 'stands in line 1'],
    [`sha256:${hashToken(token).toString('hex')}`, 'stands in line 1'],
  ])('with the line %j is refused without saying it', (line, reason) => {
    expect(() => parseTokenFile(`${token}\n${line}`, 'tk')).toThrow(
      expect.objectContaining({ code: 'registry/bad-access-file', where: 'tk:2', message: expect.stringContaining(reason) }),
    );
    expect(() => parseTokenFile(`${token}\n${line}`, 'tk')).not.toThrow(line.split(' ')[0]);
  });

  it('of more than a thousand tokens is refused', () => {
    const lines = Array.from({ length: 1001 }, (_, index) => `token-number-${index}-of-many`);
    expect(() => parseTokenFile(lines.join('\n'), 'tk')).toThrow(expect.objectContaining({ where: 'tk:1001' }));
  });
});

describe('a file that changes', () => {
  function open() {
    const told: string[] = [];
    const file = { text: '1', where: 'n' };
    const read = () => {
      if (file.text === 'gone') throw new Error('Cannot read "n"');
      return file.text;
    };
    const parse = (text: string) => {
      if (Number.isNaN(Number(text))) throw new Error(`Cannot use ${text}`);
      return { value: Number(text) };
    };
    return { told, file, content: new AccessFile({ where: 'n', read }, parse, (problem) => told.push(problem)) };
  }

  it('is the same object until it does', () => {
    const { content, file } = open();
    const first = content.current();
    expect(content.current()).toBe(first);
    file.text = '2';
    expect(content.current()).toEqual({ value: 2 });
  });

  it('counts as it was while it is wrong or gone, and that is said once each time', () => {
    const { content, file, told } = open();
    for (const text of ['bad', 'bad', '3', 'gone', 'gone', '3', 'gone', 'bad', '4']) {
      file.text = text;
      content.current();
    }
    expect(content.current()).toEqual({ value: 4 });
    expect(told).toEqual([
      'Cannot use bad; what was read before still counts',
      'Cannot read "n"; what was read before still counts',
      'Cannot read "n"; what was read before still counts',
      'Cannot use bad; what was read before still counts',
    ]);
  });

  it('has to be right at the start', () => {
    expect(
      () =>
        new AccessFile(
          { where: 'n', read: () => '' },
          () => {
            throw new Error('wrong');
          },
          () => {},
        ),
    ).toThrow('wrong');
  });
});
