/** The embedded registry against the grid of the official conformance suite, and beyond it, over each place that it keeps things in. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RegistryStore } from '../src/core/index.js';
import { createRegistry } from '../src/registry/server/index.js';
import { listen } from '../src/registry/server/serve/listen.js';
import { createMemoryRegistryStore, openRegistryStore } from '../src/store/index.js';
import { beyondSuite, conformanceSuite, type RegistryUnderTest } from './suites/registry-conformance/conformance-suite.js';

/** Closing it fails when the registry stumbled over something that was no client's fault. */
async function serve(store: RegistryStore): Promise<RegistryUnderTest> {
  const problems: string[] = [];
  const handler = createRegistry({ store, announce: ({ message }) => problems.push(message) });
  const announce = (problem: string) => problems.push(problem);
  const listener = await listen(handler, { address: { host: '127.0.0.1', port: 0 }, announce });
  return {
    url: listener.url,
    close: async () => {
      await listener.close(1000);
      if (problems.length > 0) throw new Error(`The registry stumbled: ${problems.join('; ')}`);
    },
  };
}

const serveMemory = () => serve(createMemoryRegistryStore());

async function serveLayout(): Promise<RegistryUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'registry-conformance-'));
  const registry = await serve(await openRegistryStore(folder, { create: true }));
  return { url: registry.url, close: () => registry.close().finally(() => rmSync(folder, { recursive: true })) };
}

for (const version of ['1.1', 'dev'] as const) {
  conformanceSuite('a registry in memory', serveMemory, version);
  conformanceSuite('a registry over a layout', serveLayout, version);
}
beyondSuite('a registry in memory', serveMemory);
beyondSuite('a registry over a layout', serveLayout);
