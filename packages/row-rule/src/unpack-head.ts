import { promisify } from 'node:util';
import { constants, gunzip } from 'node:zlib';
import { sniffedBytes } from './file-rule.ts';

const gunzipPart = promisify(gunzip);

/** Number of compressed bytes to read. A few are enough, because gzip data expands by up to a factor of a thousand. */
const packedHeadBytes = 16_384;

/**
 * Decompresses the head of a file. Returns an empty head for corrupt data, because the error is reported when the whole
 * file is read.
 */
export async function unpackHead(bytes: Uint8Array): Promise<Uint8Array> {
  try {
    const packed = bytes.subarray(0, packedHeadBytes);
    const all = await gunzipPart(packed, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * 1024 * 1024 });
    return all.subarray(0, sniffedBytes);
  } catch {
    return new Uint8Array();
  }
}
