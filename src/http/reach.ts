import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { createError } from '../core/index.js';
import { hostOf, toHostPort } from './http-url.js';
import { isPublicAddress } from './is-public-address.js';

/** Where a request may lead: an address that a stranger named must be one of the Internet. */
export type Reach = 'anywhere' | 'public';

/** What is known of the network; tests have their own. */
export interface Network {
  resolve(host: string, options: LookupOptions): Promise<LookupAddress[]>;
  isPublic(address: string): boolean;
}

export const systemNetwork: Network = {
  resolve: (host, options) => lookup(host, { ...options, all: true }),
  isPublic: isPublicAddress,
};

/**
 * The policy for addresses that servers name in redirects and elsewhere: who is reached on a public address must not send us into this
 * machine or its surroundings. Who is itself there may.
 */
export class ReachPolicy {
  readonly #network: Network;
  /** By origin: whether it was only ever reached on addresses that are not public, so that a name cannot become local later. */
  readonly #local = new Map<string, boolean>();

  constructor(network: Network) {
    this.#network = network;
  }

  /** What a connection to `url` really reached. */
  note(url: URL, address: string | undefined): void {
    if (address === undefined) return;
    this.#local.set(url.origin, !this.#network.isPublic(address) && this.#local.get(url.origin) !== false);
  }

  /** How far an address of another origin may lead that the server of `url` named. */
  async grant(url: URL): Promise<Reach> {
    return (this.#local.get(url.origin) ?? (await this.#resolvesLocally(hostOf(url)))) ? 'anywhere' : 'public';
  }

  async #resolvesLocally(host: string): Promise<boolean> {
    const addresses = isIP(host) === 0 ? await this.#network.resolve(host, {}).catch(() => []) : [{ address: host }];
    return addresses.length > 0 && addresses.every(({ address }) => !this.#network.isPublic(address));
  }

  /** Names are judged when they are looked up, addresses here, as they never are. */
  assertReachable(url: URL, reach: Reach): void {
    const host = hostOf(url);
    if (reach === 'public' && isIP(host) !== 0 && !this.#network.isPublic(host)) throw refuse(toHostPort(url), host);
  }

  /** Judges what it finds, and what it found is what is connected to: nothing can change in between. One bad address spoils all. */
  createLookup(reach: Reach): LookupFunction {
    const answer = async (...[host, options, callback]: Parameters<LookupFunction>) => {
      try {
        const addresses = await this.#network.resolve(host, options);
        const bad = addresses.find(({ address }) => reach === 'public' && !this.#network.isPublic(address));
        if (bad !== undefined) throw refuse(host, bad.address);
        const [first] = addresses;
        if (options.all === true || first === undefined) callback(null, addresses);
        else callback(null, first.address, first.family);
      } catch (error) {
        callback(error as NodeJS.ErrnoException, []);
      }
    };
    return (...call) => void answer(...call);
  }
}

function refuse(host: string, address: string): Error {
  return createError('registry/bad-address', {
    message: `Cannot follow an address to "${host}": a server of the Internet sends to ${address}, which is inside a private network`,
    hint: 'If this is right, use the inner address of the registry itself',
    where: host,
  });
}
