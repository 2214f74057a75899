import { isToolkitError } from '../../core/index.js';
import { jsonAnswer } from './answers.js';
import type { RegistryResponse, RequestSubject } from './http.js';

/** (distribution-spec 1.1, Error Codes; the last three are what clients know from elsewhere.) */
export type RefusalCode =
  | 'BLOB_UNKNOWN'
  | 'BLOB_UPLOAD_INVALID'
  | 'BLOB_UPLOAD_UNKNOWN'
  | 'DIGEST_INVALID'
  | 'MANIFEST_BLOB_UNKNOWN'
  | 'MANIFEST_INVALID'
  | 'MANIFEST_UNKNOWN'
  | 'NAME_INVALID'
  | 'NAME_UNKNOWN'
  | 'SIZE_INVALID'
  | 'UNAUTHORIZED'
  | 'DENIED'
  | 'UNSUPPORTED'
  | 'TOOMANYREQUESTS'
  | 'PAGINATION_NUMBER_INVALID'
  | 'RANGE_INVALID'
  | 'UNKNOWN';

export interface RefusalDetails {
  /** For whoever reads the answer, which may be a script. */
  readonly detail?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A request that is not granted, as the answer says it. Whoever throws one means it for the client: no paths, no secrets. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: RefusalCode;
  readonly details: RefusalDetails;

  constructor(status: number, code: RefusalCode, message: string, details: RefusalDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export function toAnswer({ status, code, message, details }: Refusal, subject: RequestSubject): RegistryResponse {
  const error = { code, message, ...(details.detail === undefined ? {} : { detail: details.detail }) };
  return jsonAnswer(status, { errors: [error] }, subject, details.headers);
}

/**
 * What the store threw. Undefined for what is no fault of the client: that is told to whoever runs the registry, and the
 * client learns only that it happened.
 */
export function findRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (!isToolkitError(error)) return undefined;
  const { message, cause } = error;
  switch (error.code) {
    case 'bytes/digest-mismatch':
    case 'core/bad-digest':
      return new Refusal(400, 'DIGEST_INVALID', message, { cause });
    case 'bytes/size-mismatch':
      return new Refusal(400, 'SIZE_INVALID', message, { cause });
    case 'bytes/disk-full':
      return new Refusal(507, 'UNKNOWN', 'The disk of the registry is full', { cause: error });
    case 'store/locked':
      return new Refusal(503, 'UNKNOWN', 'The registry is busy with its index: try again', { cause: error, headers: { 'Retry-After': '1' } });
    default:
      return undefined;
  }
}
