import { join } from 'node:path';
import { storeSuite } from '../../test/suites/store-suite.js';
import { createArchive, createMemoryStore, openLayout, openLocalStore } from './index.js';

/** What nobody has to close. */
const close = async () => {};

storeSuite('memory', async () => ({ store: createMemoryStore(), close }));

storeSuite('an OCI layout', async (folder) => ({ store: await openLayout(join(folder, 'layout'), { create: true }), close }));

storeSuite('the local store', async (folder) => ({ store: await openLocalStore({ home: join(folder, 'home') }), close }));

storeSuite('an OCI archive being written', async (folder) => {
  const store = await createArchive(join(folder, 'archive.tar'), 'oci-archive');
  return { store, close: () => store.close() };
});

storeSuite('a docker archive being written', async (folder) => {
  const store = await createArchive(join(folder, 'archive.tar'), 'docker-archive');
  return { store, close: () => store.close() };
});
