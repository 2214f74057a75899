/**
 * http: requests over HTTP: redirects with their dangers, proxies, TLS, time limits, long bodies straight from the socket; and files at a
 * URL, whole or in parts. Knows neither registries nor packages, and never logs in by itself.
 */
export { fetchFile, type FetchedFile } from './fetch-file.js';
export { showUrl } from './file-url.js';
export { createHttpClient } from './http-client.js';
export { hostOf, isLoopbackHost } from './http-url.js';
export type { HttpBody, HttpClient, HttpMethod, HttpRequest, HttpResponse, Timeouts, TlsOptions } from './http.js';
export { openRemoteFile } from './open-remote-file.js';
export { defaultRetry, isPassing, isPassingError, parseRetryAfter, type RetryPolicy, toDelay, wait } from './retry.js';
