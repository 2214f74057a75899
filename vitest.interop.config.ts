import { defineConfig } from 'vitest/config';
import manifest from './package.json' with { type: 'json' };

/** The interop suite drives other tools for real; .ci/install-peers brings them. */
export default defineConfig({
  define: { MODELPORT_VERSION: JSON.stringify(manifest.version) },
  test: {
    include: ['test/interop/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
