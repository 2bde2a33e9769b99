import { ClickHouseError } from '@clickhouse/client';
import { brokenGzip, lineOutOfBounds } from '@inlet/row-rule/file-rule';
import { failureOf } from '../../domain/source-file.ts';

/** ClickHouse errors for gzip data that is corrupt or truncated. */
const corruptGzipErrors = new Set(['ZLIB_INFLATE_FAILED', 'ATTEMPT_TO_READ_AFTER_EOF', 'CANNOT_READ_ALL_DATA']);

/**
 * ClickHouse's error for a single line that exceeds the memory limit of a load. The pattern matches only if the
 * statement reaches its own limit while it parses lines, not if it reaches the limit of the user or the server.
 */
const lineTooLargeForLoad =
  /^(?:Query memory limit|Memory limit \(for query\)) exceeded.*(?:ParallelParsingBlockInputFormat|LineAsStringRowInputFormat)/s;

/** Maps errors caused by the file's content to failures. All other errors are retried. */
export function toLoadFailure(error: unknown, isGzip: boolean): unknown {
  if (!(error instanceof ClickHouseError) || error.type === undefined) return error;
  if (error.type === 'MEMORY_LIMIT_EXCEEDED' && lineTooLargeForLoad.test(error.message)) {
    return failureOf(lineOutOfBounds, error);
  }
  if (isGzip && corruptGzipErrors.has(error.type)) {
    return failureOf(brokenGzip, error);
  }
  return error;
}
