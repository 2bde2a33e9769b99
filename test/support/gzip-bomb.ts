import { gzipSync } from 'node:zlib';

const memberBytes = 10 * 1024 ** 2;

/**
 * Returns a gzip file that decompresses to many copies of a string. One member is compressed and then repeated, so a
 * file that expands to 10 GiB is only 10 MB in size and is generated instantly.
 */
export function gzipBomb(text: string, unpackedBytes: number): Buffer {
  const member = gzipSync(Buffer.alloc(memberBytes, text), { level: 9 });
  return Buffer.concat(Array<Buffer>(Math.ceil(unpackedBytes / memberBytes)).fill(member));
}
