import { ClickHouseError } from '@clickhouse/client';
import { Failure } from '../../domain/failure.ts';

/** What the engine answers when gzip data cannot be unpacked to its end. */
const brokenGzip = new Set(['ZLIB_INFLATE_FAILED', 'ATTEMPT_TO_READ_AFTER_EOF', 'CANNOT_READ_ALL_DATA']);

/** Tells the partner's fault (the bytes) from ours (everything else, which is tried again). */
export function toLoadFailure(error: unknown, isGzip: boolean): unknown {
  if (isGzip && error instanceof ClickHouseError && error.type !== undefined && brokenGzip.has(error.type)) {
    return new Failure('corrupt_gzip', 'The gzip data ends early or is damaged.', { cause: error });
  }
  return error;
}
