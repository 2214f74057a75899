/**
 * The words of the Carton format, version 1: names of members, the dtypes, the media types of its form in a registry (which are modelport's own:
 * Carton has none).
 */
import type { DtypeName } from '../../core/index.js';

export const specVersion = 1;

export const tomlName = 'carton.toml';
export const manifestName = 'MANIFEST';
export const linksName = 'LINKS';
export const modelFolder = 'model/';
export const tensorFolder = 'tensor_data/';
export const tensorIndexName = 'tensor_data/index.toml';
export const miscFolder = 'misc/';

/** What MANIFEST does not list. (MANIFEST) */
export const unlisted: readonly string[] = [manifestName, linksName];

/** In the order of the specification. (carton.toml, dtype) */
export const cartonDtypes = [
  'float32',
  'float64',
  'string',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
] as const satisfies readonly DtypeName[];
export type CartonDtype = (typeof cartonDtypes)[number];

export const tensorPrefix = '@tensor_data/';
export const miscPrefix = '@misc/';

/** A carton as an OCI artifact: one layer a member, small ones together in one tar, the empty config, the model hash as an annotation. */
export const artifactType = 'application/vnd.modelport.carton.v1';
export const memberType = 'application/vnd.modelport.carton.member.v1';
export const membersType = 'application/vnd.modelport.carton.members.v1.tar';
export const modelHashKey = 'dev.modelport.carton.model-hash';

/** Members below this size share the tar layer. */
export const sharedMemberBytes = 64 * 1024;
