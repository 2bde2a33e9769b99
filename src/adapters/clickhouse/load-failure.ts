import { ClickHouseError } from '@clickhouse/client';
import { brokenGzip, lineOutOfBounds } from '@inlet/row-rule/file-rule';
import { failureOf } from '../../domain/file-failure.ts';

/** What the engine answers when gzip data cannot be unpacked to its end. */
const whatBrokenGzipGives = new Set(['ZLIB_INFLATE_FAILED', 'ATTEMPT_TO_READ_AFTER_EOF', 'CANNOT_READ_ALL_DATA']);

/**
 * What the engine answers when a single line is larger than the memory of a load: the limit of the statement (not of
 * the user or the server, which other loads may have used up) was reached where lines are read.
 */
const lineTooLargeForLoad =
  /^(?:Query memory limit|Memory limit \(for query\)) exceeded.*(?:ParallelParsingBlockInputFormat|LineAsStringRowInputFormat)/s;

/** Tells the partner's fault (the bytes) from ours (everything else, which is tried again). */
export function toLoadFailure(error: unknown, isGzip: boolean): unknown {
  if (!(error instanceof ClickHouseError) || error.type === undefined) return error;
  if (error.type === 'MEMORY_LIMIT_EXCEEDED' && lineTooLargeForLoad.test(error.message)) {
    return failureOf(lineOutOfBounds, error);
  }
  if (isGzip && whatBrokenGzipGives.has(error.type)) {
    return failureOf(brokenGzip, error);
  }
  return error;
}
