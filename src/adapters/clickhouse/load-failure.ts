import { ClickHouseError } from '@clickhouse/client';
import { Failure } from '../../domain/failure.ts';

/** What the engine answers when gzip data cannot be unpacked to its end. */
const brokenGzip = new Set(['ZLIB_INFLATE_FAILED', 'ATTEMPT_TO_READ_AFTER_EOF', 'CANNOT_READ_ALL_DATA']);

/** Where the engine runs out of its memory when a single line is larger than all of it. */
const readingLines = /ParallelParsingBlockInputFormat|LineAsStringRowInputFormat/;

/** Tells the partner's fault (the bytes) from ours (everything else, which is tried again). */
export function toLoadFailure(error: unknown, isGzip: boolean): unknown {
  if (!(error instanceof ClickHouseError) || error.type === undefined) return error;
  if (error.type === 'MEMORY_LIMIT_EXCEEDED' && readingLines.test(error.message)) {
    return new Failure('line_out_of_bounds', 'A line of the file is larger than a load may be.', { cause: error });
  }
  if (isGzip && brokenGzip.has(error.type)) {
    return new Failure('corrupt_gzip', 'The gzip data ends early or is damaged.', { cause: error });
  }
  return error;
}
