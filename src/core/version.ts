/** Put in by the build and by the test runner, from package.json. */
declare const MODELPORT_VERSION: string;

/** The version of this modelport. */
export const version: string = MODELPORT_VERSION;
