import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from './is-public-address.js';

const publicOnes = [
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.169.0.1',
  '223.255.255.255',
  '2606:4700::1111',
  '64:ff9b::101:101',
];

const otherOnes = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.2.1',
  '192.168.0.1',
  '198.19.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:8.8.8.8',
  '::ffff:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::1',
  '64:ff9b::169.254.169.254',
  '64:ff9b:1::808:808',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%lo',
  'fec0::1',
  'ff02::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'localhost',
  '127.1',
  '2130706433',
  '',
];

describe('isPublicAddress', () => {
  it.each(publicOnes)('takes %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(otherOnes)('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('judges what a gateway translates as the address behind it', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPublicAddress(`64:ff9b::${address}`)).toBe(isPublicAddress(address));
        expect(isPublicAddress(`::ffff:${address}`)).toBe(false);
      }),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.ipV6()), (address) => typeof isPublicAddress(address) === 'boolean'));
  });
});
