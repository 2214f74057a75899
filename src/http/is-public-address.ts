import { BlockList, isIP } from 'node:net';

/** What IANA keeps for special purposes: this network, private, shared, loopback, link-local, tests, multicast, reserved. */
const specialV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

/** Within 2000::/3, the only unicast addresses of the Internet: protocol assignments with Teredo, documentation, 6to4. */
const specialV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const special = new BlockList();
for (const [network, prefix] of specialV4) special.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of specialV6) special.addSubnet(network, prefix, 'ipv6');

const unicast = new BlockList();
unicast.addSubnet('2000::', 3, 'ipv6');

/** In the spelling of URLs; where there is no IPv4 a gateway gives every IPv4 host such an address. (RFC 6052) */
const translated = /^\[64:ff9b::(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})\]$/;

/** Whether an IP address is one of the Internet. False for anything that leads into this machine or its surroundings, and for what is no address. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !special.check(address, 'ipv4');
  if (version !== 6 || address.includes('%')) return false;
  const [, high = '0', low] = translated.exec(new URL(`http://[${address}]`).hostname) ?? [];
  if (low !== undefined) return isPublicAddress(toV4(Number.parseInt(high, 16), Number.parseInt(low, 16)));
  return unicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

function toV4(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
