import { promisify } from 'node:util';
import { constants, gunzip } from 'node:zlib';
import { sniffedBytes } from './file-rule.ts';

const gunzipPart = promisify(gunzip);

/** Fewer compressed bytes are enough, because gzip data expands up to a thousandfold. */
const packedHeadBytes = 16_384;

/** Decompresses the head of a file. Corrupt data gives an empty head; reading the whole file reports the error. */
export async function unpackHead(bytes: Uint8Array): Promise<Uint8Array> {
  try {
    const packed = bytes.subarray(0, packedHeadBytes);
    const all = await gunzipPart(packed, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * 1024 * 1024 });
    return all.subarray(0, sniffedBytes);
  } catch {
    return new Uint8Array();
  }
}
