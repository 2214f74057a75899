import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChallenges } from './challenge.js';

const bearer = { kind: 'bearer', realm: 'https://auth.example/token', service: 'hub', scopes: ['repository:a/b:pull'] };
const text = 'Bearer realm="https://auth.example/token",service="hub",scope="repository:a/b:pull"';

describe('parseChallenges', () => {
  it.each([
    ['the usual form', text],
    ['another case and spaces around', ' bEARER Realm = "https://auth.example/token" ,SERVICE="hub", Scope="repository:a/b:pull" '],
    ['values without quotes', 'Bearer realm=https://auth.example/token,service=hub,scope=repository:a/b:pull'],
    ['escapes', 'Bearer realm="https://auth.example/\\token",service="h\\u\\b",scope="repository:a/b:pull"'],
    ['keys that it does not know', `${text},error="invalid_token",error_description="it, well, \\"ended\\""`],
    ['a key that is repeated', `${text},realm="https://evil.example",service="other",scope="x"`],
    ['empty elements', `, ,${text},,`],
    ['parameters that belong to nothing', `realm="https://evil.example", ${text}`],
    ['schemes that it does not know', `Negotiate, NTLM abc==, Digest realm="https://evil.example",nonce="1, Bearer x", ${text}, Negotiate oYG=`],
  ])('reads %s', (_what, header) => {
    expect(parseChallenges(header)).toEqual([bearer]);
  });

  it('reads several, in their order', () => {
    expect(parseChallenges(`Basic realm="a, b", ${text}`)).toEqual([{ kind: 'basic' }, bearer]);
    expect(parseChallenges(`${text}, Basic`)).toEqual([bearer, { kind: 'basic' }]);
    expect(parseChallenges('Bearer realm="https://a", Bearer realm="https://b"')).toMatchObject([{ realm: 'https://a' }, { realm: 'https://b' }]);
  });

  it('keeps commas and splits scopes at spaces', () => {
    expect(parseChallenges('Bearer realm="https://a",scope="repository:a:pull,push  registry:catalog:*"')).toEqual([
      { kind: 'bearer', realm: 'https://a', service: undefined, scopes: ['repository:a:pull,push', 'registry:catalog:*'] },
    ]);
  });

  it.each(['', 'Bearer', 'Bearer service="x"', 'Bearer realm="https://a', '"', '=', 'Bearer realm=', '\\"\\'])('finds nothing in %j', (header) => {
    expect(parseChallenges(header)).toEqual([]);
  });

  it('reads a header up to its limit', () => {
    const filler = (length: number) => `${text},x="${'y'.repeat(length - text.length - 5)}"`;
    expect(parseChallenges(filler(16 * 1024))).toEqual([bearer]);
    expect(parseChallenges(filler(16 * 1024 + 1))).toEqual([]);
  });

  it('takes anything', () => {
    const pieces = fc.constantFrom('Bearer', 'Basic', ' ', ',', '=', '"', '\\', 'realm', 'scope', 'x', '\n', '\u0000', 'ü');
    const headers = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join('')),
    );
    fc.assert(fc.property(headers, (header) => parseChallenges(header).every(({ kind }) => kind === 'basic' || kind === 'bearer')));
  });

  it('gives back what was quoted', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (realm, service) => {
        const quote = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`;
        expect(parseChallenges(`Bearer realm=${quote(realm)}, service=${quote(service)}`)).toEqual([{ kind: 'bearer', realm, service, scopes: [] }]);
      }),
    );
  });
});
