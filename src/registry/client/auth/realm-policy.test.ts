import { describe, expect, it } from 'vitest';
import { judgeRealm } from './realm-policy.js';

const hub = 'registry-1.docker.io';
const lab = 'registry.gitlab.com';
const judge = (realm: string, registryUrl: string, trustedRealmHosts: readonly string[] = []) =>
  judgeRealm(realm, { host: new URL(registryUrl).host, registryUrl, trustedRealmHosts });

describe('judgeRealm', () => {
  it.each([
    ['its own host', 'https://reg.example/token', 'https://reg.example'],
    ['its own host on another port', 'https://reg.example:8443/token', 'https://reg.example:5000'],
    ['its own host in another spelling', 'HTTPS://REG.Example/token', 'https://reg.example'],
    ['its own host over http, as the registry', 'http://127.0.0.1:5001/token', 'http://127.0.0.1:5000'],
    ['its own host over https, unlike the registry', 'https://127.0.0.1:5001/token', 'http://127.0.0.1:5000'],
    ['Docker Hub', 'https://auth.docker.io/token', `https://${hub}`],
    ['GitLab', 'https://gitlab.com/jwt/auth', `https://${lab}`],
    ['NVIDIA', 'https://authn.nvidia.com/token', 'https://nvcr.io'],
    ['NVIDIA on its own host', 'https://nvcr.io/proxy_auth', 'https://nvcr.io'],
  ])('lets a login go to %s', (_what, realm, registryUrl) => {
    expect(judge(realm, registryUrl)).toEqual({ url: new URL(realm), takesCredentials: true });
  });

  it.each([
    ['another host', 'https://evil.example/token', 'https://reg.example'],
    ['a parent domain', 'https://example/token', 'https://reg.example'],
    ['a subdomain', 'https://auth.reg.example/token', 'https://reg.example'],
    ['a host that begins the same', 'https://reg.example.evil.example/token', 'https://reg.example'],
    ['a host that ends the same', 'https://evilreg.example/token', 'https://reg.example'],
    ['the same host with a dot at its end', 'https://reg.example./token', 'https://reg.example'],
    ['the service of another registry', 'https://auth.docker.io/token', 'https://ghcr.io'],
    ['a host below a listed one', 'https://x.auth.docker.io/token', `https://${hub}`],
    ['a host of which another port is trusted', 'https://sso.example:444/token', 'https://reg.example', ['sso.example:443']],
  ])('asks %s without a login', (_what, realm, registryUrl, trusted: readonly string[] = []) => {
    expect(judge(realm, registryUrl, trusted)).toEqual({ url: new URL(realm), takesCredentials: false });
  });

  it('lets a login go where the configuration says', () => {
    expect(judge('https://sso.example:444/x', 'https://reg.example', ['sso.example']).takesCredentials).toBe(true);
    expect(judge('https://sso.example/x', 'https://reg.example', ['SSO.example:443']).takesCredentials).toBe(true);
    expect(judge('https://a.sso.example/x', 'https://reg.example', ['sso.example']).takesCredentials).toBe(false);
  });

  it.each([
    ['no URL', '/token', 'https://reg.example', 'is no URL'],
    ['nothing', '', 'https://reg.example', 'is no URL'],
    ['a file', 'file:///etc/passwd', 'https://reg.example', 'expected https, found file'],
    ['a script', 'javascript:alert(1)', 'https://reg.example', 'expected https, found javascript'],
    ['http of an https registry', 'http://reg.example/token', 'https://reg.example', 'expected https, found http (on "reg.example")'],
    ['http of another host', 'http://127.0.0.2:5000/token', 'http://127.0.0.1:5000', 'expected https, found http'],
    ['user information', 'https://user:hunter2@reg.example/token', 'https://reg.example', 'holds a user name or password'],
    ['a user alone', 'https://hunter2@reg.example/token', 'https://reg.example', 'holds a user name or password'],
  ])('refuses %s', (_what, realm, registryUrl, reason) => {
    let refusal: unknown;
    try {
      judge(realm, registryUrl, ['reg.example', '127.0.0.2']);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: 'registry/bad-address', message: expect.stringContaining(reason) });
    expect(String(refusal)).not.toContain('hunter2');
  });

  it('drops what is not sent', () => {
    expect(judge('https://reg.example/token?a=b#c', 'https://reg.example').url.href).toBe('https://reg.example/token?a=b');
  });
});
