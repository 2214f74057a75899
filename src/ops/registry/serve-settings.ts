import { createError, type Finding } from '../../core/index.js';
import { isLoopback, type ListenAddress, parseListen } from '../../registry/server/index.js';
import type { ServeOptions } from './serve-options.js';
import { parseDuration, parseInterval } from './duration.js';
import { parseUpstream, type UpstreamAddress } from './upstream.js';

/** What the options mean together. */
export interface ServeSettings {
  readonly listen: ListenAddress;
  readonly isLocal: boolean;
  readonly isGuarded: boolean;
  /** Whether this process changes the folder, by itself too. */
  readonly writes: boolean;
  readonly upstream: UpstreamAddress | undefined;
  readonly gcIntervalMs: number | undefined;
  readonly uploadAgeMs: number;
  /** Undefined: they stay. */
  readonly untaggedAgeMs: number | undefined;
}

/** Throws `ops/bad-option` for what is wrong, and for what contradicts itself or is dangerous without being said. */
export function parseServeOptions(options: ServeOptions): ServeSettings {
  const { listen: address = '127.0.0.1:5000', gcInterval = '1h', uploadTtl = '7d', mirror, readOnly } = options;
  const listen = parseListen(address);
  const isLocal = isLoopback(listen.host);
  const isGuarded = options.htpasswd !== undefined || options.tokenFile !== undefined;
  const upstream = mirror === undefined ? undefined : parseUpstream(mirror);
  assertConsistent(options, isGuarded);
  if (!isLocal && !isGuarded && options.insecureNoAuth !== true) throw unprotected(address);
  return {
    listen,
    isLocal,
    isGuarded,
    writes: readOnly !== true || upstream !== undefined,
    upstream,
    gcIntervalMs: parseInterval(gcInterval, '--gc-interval'),
    uploadAgeMs: parseDuration(uploadTtl, '--upload-ttl'),
    untaggedAgeMs: options.untaggedTtl === undefined ? undefined : parseDuration(options.untaggedTtl, '--untagged-ttl'),
  };
}

function assertConsistent(options: ServeOptions, isGuarded: boolean): void {
  const { dir, tmp, tlsCert, tlsKey, anonymousPull, insecureNoAuth, untaggedTtl, gcInterval } = options;
  if (untaggedTtl !== undefined && gcInterval === 'off')
    throw contradiction('--untagged-ttl', 'nothing is deleted with --gc-interval off', 'Leave one of them out');
  if (dir !== undefined && tmp === true) throw contradiction('--dir and --tmp', 'a folder that is named is not removed', 'Leave one of them out');
  if (tlsCert === undefined && tlsKey !== undefined) throw contradiction('--tls-key', 'the certificate is missing', 'Add --tls-cert FILE');
  if (tlsCert !== undefined && tlsKey === undefined) throw contradiction('--tls-cert', 'its key is missing', 'Add --tls-key FILE');
  if (anonymousPull === true && !isGuarded)
    throw contradiction('--anonymous-pull', 'nobody has to log in', 'Say who may write with --htpasswd FILE or --token-file FILE');
  if (insecureNoAuth === true && isGuarded) throw contradiction('--insecure-no-auth', 'logins are asked for', 'Leave it out');
}

function contradiction(what: string, reason: string, hint: string): Error {
  return createError('ops/bad-option', { message: `Cannot serve with ${what}: ${reason}`, hint });
}

function unprotected(address: string): Error {
  return createError('ops/bad-option', {
    message: `Cannot listen on "${address}": other machines could change and delete everything, as nobody has to log in. Expected --htpasswd FILE or --token-file FILE, or --insecure-no-auth if that is meant`,
    hint: 'Logins for --htpasswd are made with: htpasswd -nB NAME. Without --listen only this machine is served',
  });
}

/** What is allowed, and had better be known. */
export function listDangers({ tlsCert }: ServeOptions, { isLocal, isGuarded }: ServeSettings): readonly Finding[] {
  if (isLocal) return [];
  if (!isGuarded)
    return [{ level: 'warning', code: 'registry/no-auth', message: 'Everybody who reaches this machine can change and delete everything' }];
  if (tlsCert !== undefined) return [];
  return [
    {
      level: 'warning',
      code: 'registry/no-tls',
      message: 'Logins and packages go over the network without encryption',
      hint: 'Add --tls-cert FILE and --tls-key FILE, or put a proxy with TLS in front and listen on 127.0.0.1',
    },
  ];
}
