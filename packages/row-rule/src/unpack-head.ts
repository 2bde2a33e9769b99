import { promisify } from 'node:util';
import { constants, gunzip } from 'node:zlib';
import { sniffedBytes } from './sniff-layout.ts';

const gunzipPart = promisify(gunzip);

/** Of packed bytes fewer do: gzip may make a thousand times as many of them. */
const packedHeadBytes = 16_384;

/** Unpacks a beginning. What cannot be unpacked is not judged here: whoever reads the whole says so. */
export async function unpackHead(bytes: Uint8Array): Promise<Uint8Array> {
  try {
    const packed = bytes.subarray(0, packedHeadBytes);
    const all = await gunzipPart(packed, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * 1024 * 1024 });
    return all.subarray(0, sniffedBytes);
  } catch {
    return new Uint8Array();
  }
}
