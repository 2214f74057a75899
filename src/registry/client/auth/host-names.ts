const hubHosts = ['index.docker.io', 'docker.io', 'registry-1.docker.io'];

/** How a host of a package name may be written where logins are kept, the name that is used for writing first. */
export function listServerNames(host: string): readonly [string, ...string[]] {
  const name = host.toLowerCase();
  return hubHosts.includes(name) ? [`https://${hubHosts[0]}/v1/`, ...hubHosts] : [name];
}

/**
 * Whether a key of a configuration file is for this very host: a scheme and the paths of the first protocols say nothing, another path
 * without a scheme is podman's way to name a part of a registry.
 */
export function isKeyOf(key: string, host: string): boolean {
  const [, scheme, name = '', path = ''] = /^(https?:\/\/)?([^/]*)(.*)$/s.exec(key.toLowerCase()) ?? [];
  return listServerNames(host).includes(name) && (scheme !== undefined || /^(?:\/(?:v[12]\/?)?)?$/.test(path));
}
