import { join } from 'node:path';
import { registryStoreSuite } from '../../test/suites/registry-store-suite.js';
import { storeSuite } from '../../test/suites/store-suite.js';
import { createMemoryRegistryStore, openRegistryStore } from './index.js';

registryStoreSuite('memory', async () => createMemoryRegistryStore());
registryStoreSuite('a layout', async (folder) => openRegistryStore(join(folder, 'layout'), { create: true }));

/** What nobody has to close. */
const close = async () => {};
storeSuite('memory that is served', async () => ({ store: createMemoryRegistryStore(), close }));
storeSuite('a layout that is served', async (folder) => ({ store: await openRegistryStore(join(folder, 'layout'), { create: true }), close }));
