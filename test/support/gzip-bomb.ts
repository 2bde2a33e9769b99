import { gzipSync } from 'node:zlib';

const memberBytes = 10 * 1024 ** 2;

/**
 * A gzip file that unpacks to the same text again and again. One member is packed and then repeated, which is as good
 * as packing all of it: 10 GiB are made at once, and are 10 MB.
 */
export function gzipBomb(text: string, unpackedBytes: number): Buffer {
  const member = gzipSync(Buffer.alloc(memberBytes, text), { level: 9 });
  return Buffer.concat(Array<Buffer>(Math.ceil(unpackedBytes / memberBytes)).fill(member));
}
