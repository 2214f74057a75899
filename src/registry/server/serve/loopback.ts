import { isIP } from 'node:net';

/** Whether only this machine reaches what listens there. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  if (isIP(name) === 4) return name.startsWith('127.');
  if (isIP(name) === 6) return name === '::1' || name.startsWith('::ffff:127.');
  return name === 'localhost' || name.endsWith('.localhost');
}
