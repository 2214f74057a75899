import type { BlobContent, Digest, TarContent } from '../../core/index.js';
import type { MemberFacts } from './zip-headers.js';
import type { ZipMethod } from './zip-format.js';

export type ZipContent = Exclude<BlobContent, TarContent>;

export interface ZipFileMember {
  readonly path: string;
  readonly content: ZipContent;
  /** `none` by default, so that parts of it can be read. */
  readonly method?: ZipMethod | undefined;
  /** Permissions; 0644 by default. */
  readonly mode?: number | undefined;
}

/** A symbolic link; `link` is where it leads, as it shall stand there. */
export interface ZipLinkMember {
  readonly path: string;
  readonly link: string;
}

export type ZipMember = ZipFileMember | ZipLinkMember;

/** What a member holds: size, CRC-32 and SHA-256 before compression. */
export interface AddedMember {
  readonly size: number;
  readonly crc32: number;
  readonly digest: Digest;
}

/** A member that may be written, with the type of the file in its mode. */
export interface PlannedMember {
  readonly name: Buffer;
  readonly content: ZipContent;
  readonly method: ZipMethod;
  readonly mode: number;
}

/** One that is in the file. */
export interface WrittenMember {
  readonly facts: MemberFacts;
  readonly digest: Digest;
}
