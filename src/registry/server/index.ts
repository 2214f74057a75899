/**
 * registry/server: a registry over any RegistryStore: the distribution protocol as a function from request to response, who may ask what, and the
 * adapter that puts it on a socket. Opens no files; never speaks to another registry by itself.
 */
export type * from './http.js';
export { createRegistry } from './registry.js';
export type { Upstream } from './upstream.js';
export { type Access, authenticate } from './access/authenticate.js';
export { checkOrigin } from './access/check-origin.js';
export { openAccessLog } from './observe/access-log.js';
export { createMetrics, type Metrics } from './observe/metrics.js';
export { observe } from './observe/observe.js';
export { answerProbes } from './observe/probes.js';
export { listen, type RegistryListener } from './serve/listen.js';
export { isLoopback } from './serve/loopback.js';
export { type ListenAddress, parseListen } from './serve/parse-listen.js';
