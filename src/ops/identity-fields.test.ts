import { describe, expect, it } from 'vitest';
import { applySettings } from './identity-fields.js';

const described = { identity: { name: 'a', licenses: ['MIT'] }, weights: {}, capabilities: {} };

describe('applySettings', () => {
  it.each([
    ['identity.title', 'T', { identity: { ...described.identity, title: 'T' } }],
    ['licenses', 'Apache-2.0, MIT', { identity: { name: 'a', licenses: ['Apache-2.0', 'MIT'] } }],
    ['capabilities.reasoning', 'true', { capabilities: { reasoning: true } }],
    ['weights.paramSize', '7B', { weights: { paramSize: '7B' } }],
    ['name', '', { identity: { licenses: ['MIT'] } }],
  ])('%s=%j', (key, value, changed) => {
    expect(applySettings(described, [{ key, value }])).toEqual({ ...described, ...changed });
  });

  it.each([
    ['nonsense', 'x'],
    ['reasoning', 'maybe'],
  ])('refuses %s=%s', (key, value) => {
    expect(() => applySettings(described, [{ key, value }])).toThrow(expect.objectContaining({ code: 'ops/bad-option' }));
  });
});
