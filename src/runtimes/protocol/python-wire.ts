import { fileURLToPath } from 'node:url';

/** The Python side of the protocol, for the runners that are written in it; beside this file, or beside the bundle. */
export const pythonWireFile = fileURLToPath(new URL('./modelport_wire.py', import.meta.url));
