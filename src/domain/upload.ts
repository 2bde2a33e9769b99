import type { AudienceScope } from './audience.ts';
import { Failure } from './failure.ts';
import type { Limits } from './limits.ts';
import { invalidFilePath, keyInPrefix } from './source-file.ts';
import { hasGzipName } from '@inlet/row-rule/file-rule';

// Uploads of files to the shared bucket, in parts, with URLs that need no storage credentials.

export type Upload = {
  /** The path for imports and audiences, relative to the partner's prefix. */
  readonly filePath: string;
  readonly key: string;
  readonly bytes: number;
  /** The storage's ID of the upload. */
  readonly storageId: string;
  /** Identifies the object that this upload makes. */
  readonly mark: string;
  readonly expiresAt: Date;
};

export type Part = { readonly partNumber: number; readonly bytes: number };

export type StoredPart = Part & { readonly etag: string };

export const uploadHours = 24;
export const urlSeconds = 3_600;
/** Maximum number of uploads per partner that can still be continued. */
export const maxOpenUploads = 100;
/**
 * The storage removes the parts of an upload that was never completed. Workers do so earlier, but the rule of the storage also
 * applies to uploads with a partner's own credentials, and to those that Inlet could not record.
 */
export const abandonedUploadDays = 7;

/** The clocks of the storage, of PostgreSQL, and of the api can differ, and a last part may still be on its way. */
export const uploadGraceHours = 1;

const mebibyte = 1024 * 1024;
const minPartBytes = 8 * mebibyte;
/** A response contains a URL for each part. The storage allows 10,000 parts. */
const maxParts = 200;

export function partBytesFor(bytes: number): number {
  return Math.max(minPartBytes, Math.ceil(bytes / maxParts / mebibyte) * mebibyte);
}

/** All parts have the same size, except for the last one. */
export function partsOf(bytes: number): Part[] {
  const partBytes = partBytesFor(bytes);
  return Array.from({ length: Math.ceil(bytes / partBytes) }, (_, index) => ({
    partNumber: index + 1,
    bytes: Math.min(partBytes, bytes - index * partBytes),
  }));
}

/** A stored part of another size is uploaded again. */
export function missingParts(bytes: number, stored: readonly StoredPart[]): Part[] {
  const sizes = new Map(stored.map((part) => [part.partNumber, part.bytes]));
  return partsOf(bytes).filter((part) => sizes.get(part.partNumber) !== part.bytes);
}

/**
 * Returns the path and the key of a new file. The files of a customer are kept apart, because the partner and its other
 * customers may load any file under the prefix, and a customer must not be able to replace it.
 */
export function placeOfUpload(
  { prefix }: { readonly prefix: string },
  { customerId }: Pick<AudienceScope, 'customerId'>,
  path: string,
): { readonly filePath: string; readonly key: string } {
  keyInPrefix(prefix, path);
  if (path.endsWith('/')) throw invalidFilePath('must be the path of a file, which does not end with "/"');
  const filePath = customerId === null ? path : folderOfCustomer(customerId) + path;
  return { filePath, key: keyInPrefix(prefix, filePath) };
}

/**
 * A customer that is signed in to the console may load only what customers have uploaded for themselves. A user token
 * needs no such rule, because the partner's own program sends it and chooses the path.
 */
export function requireOwnFolder(customerId: number, path: string): void {
  const folder = folderOfCustomer(customerId);
  if (!path.startsWith(folder)) throw invalidFilePath(`must start with "${folder}", the folder of your uploads`);
}

export function folderOfCustomer(customerId: number): string {
  return `customers/${customerId}/`;
}

export function requireUploadSize(path: string, bytes: number, limits: Limits): void {
  const isGzip = hasGzipName(path);
  const max = isGzip ? limits.maxGzipFileBytes : limits.maxPlainFileBytes;
  if (bytes <= max) return;
  const kind = isGzip ? 'a gzip file' : 'an uncompressed file';
  const detail = `bytes must be at most ${max.toLocaleString('en-US')}, the limit for ${kind}.`;
  throw new Failure('invalid_request', 'The request is invalid; see errors.', {
    fields: [{ pointer: '/bytes', detail }],
  });
}
