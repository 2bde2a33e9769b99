import { createHash } from 'node:crypto';

// What S3 calls an object or a part by its content, unless it encrypts with a key of KMS: then no ETag is like these, and
// everything is sent again.

export function etagOf(bytes: Uint8Array): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

/** Of an object that came in parts: the sum of the sums, and how many. */
export function etagOfParts(etags: readonly string[]): string {
  const sums = etags.map((etag) => Buffer.from(etag.replaceAll('"', ''), 'hex'));
  return `"${createHash('md5').update(Buffer.concat(sums)).digest('hex')}-${etags.length}"`;
}

/** What an object of these parts must be called; null where the storage does not call parts by their content. */
export function expectedEtag(etags: readonly string[]): string | null {
  return etags.every((etag) => /^"[0-9a-f]{32}"$/.test(etag)) ? etagOfParts(etags) : null;
}
