import { describe, expect, it } from 'vitest';
import { isKeyOf } from './host-names.js';

const hub = 'index.docker.io';

describe('isKeyOf', () => {
  it.each([
    ['reg.example', 'reg.example'],
    ['reg.example/', 'reg.example'],
    ['reg.example/v1/', 'reg.example'],
    ['https://reg.example', 'reg.example'],
    ['https://reg.example/v2', 'reg.example'],
    ['http://reg.example:5000/some/path', 'reg.example:5000'],
    ['REG.example', 'reg.Example'],
    [`https://${hub}/v1/`, 'docker.io'],
    ['docker.io', 'registry-1.docker.io'],
    ['registry-1.docker.io', 'index.docker.io'],
  ])('takes %j for %j', (key, host) => {
    expect(isKeyOf(key, host)).toBe(true);
  });

  it.each([
    ['reg.example', 'reg.example:5000'],
    ['reg.example:5000', 'reg.example'],
    ['reg.example', 'example'],
    ['example', 'reg.example'],
    ['reg.example.evil.example', 'reg.example'],
    ['evilreg.example', 'reg.example'],
    ['reg.example/team', 'reg.example'],
    ['https://evil.example/reg.example', 'reg.example'],
    ['https://evil.example@reg.example', 'reg.example'],
    ['hub.docker.io', 'docker.io'],
    ['', 'reg.example'],
  ])('does not take %j for %j', (key, host) => {
    expect(isKeyOf(key, host)).toBe(false);
  });
});
