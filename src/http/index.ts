/**
 * http: requests over HTTP: redirects with their dangers, proxies, TLS, time limits, long bodies straight from the socket. Knows neither
 * registries nor packages; never tries again and never logs in by itself.
 */
export { createHttpClient } from './http-client.js';
export { hostOf, isLoopbackHost } from './http-url.js';
export type { HttpBody, HttpClient, HttpMethod, HttpOptions, HttpRequest, HttpResponse, Timeouts, TlsOptions } from './http.js';
