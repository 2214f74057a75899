export interface UserPassword {
  readonly user: string;
  readonly password: string;
}

/** Of an Authorization or Proxy-Authorization header; undefined when it is none or not `Basic`. */
export function parseBasic(header: string | undefined): UserPassword | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=]+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
