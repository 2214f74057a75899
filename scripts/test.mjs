/** npm test: sets the project up, then runs every test that needs nothing but Node. Arguments go to vitest. */
import { run, setUp } from './setup.mjs';

setUp();
process.exit(run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)]));
