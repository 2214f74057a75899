/** The first thing that a stranger runs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('the demo succeeds and leaves nothing behind', { timeout: 120_000 }, async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'demo-test-'));
  try {
    const child = spawn(process.execPath, ['scripts/demo.mjs'], { env: { ...process.env, TMPDIR: temporary }, stdio: ['ignore', 'pipe', 'pipe'] });
    const said: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk));
    const [status] = await once(child, 'close');
    const text = Buffer.concat(said).toString();
    expect({ status, text: status === 0 ? '' : text }).toEqual({ status: 0, text: '' });
    expect(text).toContain('Listening on http://127.0.0.1:');
    expect(text).toMatch(/^ +model hash +[0-9a-f]{64}$/m);
    expect(text).toContain('same bytes  digits.carton');
    expect(text).toContain('Done: packed, checked, pushed, pulled');
    expect(readdirSync(temporary)).toEqual([]);
  } finally {
    rmSync(temporary, { recursive: true });
  }
});
