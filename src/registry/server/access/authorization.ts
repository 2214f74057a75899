/** What somebody says to be allowed in. */
export type Offer =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'basic'; readonly user: string; readonly password: string }
  | { readonly kind: 'malformed' };

/** Longer secrets are nobody's. */
const mostBytes = 1024;

/** The Authorization field. (RFC 7617, RFC 6750) */
export function parseAuthorization(field: string | undefined): Offer {
  if (field === undefined) return { kind: 'none' };
  const [, scheme = '', value = ''] = /^([a-z]+) +([\w.~+/-]+=*) *$/i.exec(field) ?? [];
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return value.length <= mostBytes ? { kind: 'bearer', token: value } : { kind: 'malformed' };
    case 'basic':
      return parseBasic(value);
    default:
      return { kind: 'malformed' };
  }
}

function parseBasic(value: string): Offer {
  const pair = Buffer.from(value, 'base64').toString('utf8');
  // skopeo and podman say so that they have no login, once they have seen that there is one.
  if (pair === ':') return { kind: 'none' };
  const colon = pair.indexOf(':');
  const password = pair.slice(colon + 1);
  if (colon < 0 || Buffer.byteLength(password) > mostBytes) return { kind: 'malformed' };
  return { kind: 'basic', user: pair.slice(0, colon), password };
}
