/**
 * registry/server: a registry over any RegistryStore: the distribution protocol as a function from request to response, who may ask what, and the
 * adapter that puts it on a socket. Opens no files; never speaks to another registry by itself.
 */
export type * from './http.js';
export { createRegistry, type RegistryOptions } from './registry.js';
export type { RegistryRules } from './room.js';
export type { Upstream } from './upstream.js';
