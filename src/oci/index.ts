/**
 * oci: what the OCI image specification says about bytes that name other bytes: media types, manifests, indexes, and walking,
 * copying and verifying the graph they form. Works on any BlobSource and BlobSink; never touches a disk or a network itself.
 */
export * from './copy-graph.js';
export * from './descriptor.js';
export * from './graph.js';
export * from './manifest.js';
export * from './media-types.js';
export * from './serialize.js';
export * from './verify-graph.js';
