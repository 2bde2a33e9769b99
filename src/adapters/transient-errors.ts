/** Nobody is there: nothing of what was asked can have been done, and nothing in it can be to blame. */
const awayCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EAI_AGAIN',
  'ENOTFOUND',
  'ETIMEDOUT',
  // PostgreSQL: being stopped or started, no connection or no room left.
  '57P01',
  '57P02',
  '57P03',
  '53100',
  '53200',
  '53300',
]);
/** ClickHouse, by name: a shard behind it is away; it is busy or full. */
const awayTypes = new Set([
  'ALL_CONNECTION_TRIES_FAILED',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
  'TOO_MANY_PARTS',
  'NOT_ENOUGH_SPACE',
  'TABLE_IS_READ_ONLY',
  'DNS_ERROR',
]);
const awayWords = /^timeout exceeded when trying to connect$|No space left on device/;
const awayStatuses = new Set([429, 502, 503, 504]);

/** It was there and is no longer; what was asked may have been the reason. */
const brokenCodes = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  // PostgreSQL: a statement took too long, a transaction stood still.
  '57014',
  '25P03',
]);
const brokenTypes = new Set([
  'NETWORK_ERROR',
  'SOCKET_TIMEOUT',
  'CANNOT_WRITE_TO_FILE_DESCRIPTOR',
  'QUERY_WAS_CANCELLED',
  'MEMORY_LIMIT_EXCEEDED',
  'ABORTED',
]);
const brokenWords =
  /^(?:Timeout error\.?|socket hang up|aborted|Connection terminated.*|Client .* is not queryable|Query read timeout|timeout expired)$/;

const mostCauses = 8;

/**
 * Whether an error, or what caused it, says that a server of ours is `away`, so that waiting helps, or that a connection to
 * one `broke` in the middle, where waiting helps unless it breaks every time. Null for everything else.
 */
export function transientErrorKind(error: unknown): 'away' | 'broke' | null {
  let cause = error;
  for (let depth = 0; depth < mostCauses && cause instanceof Error; depth++) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
    const type = 'type' in cause && typeof cause.type === 'string' ? cause.type : '';
    const status = httpStatusOf(cause);
    const { message } = cause;
    if (awayCodes.has(code) || awayTypes.has(type) || awayWords.test(message) || awayStatuses.has(status))
      return 'away';
    const isTimeout = cause.name === 'TimeoutError';
    const isBroken =
      /^08...$/.test(code) || brokenCodes.has(code) || brokenTypes.has(type) || brokenWords.test(message);
    if (isBroken || isTimeout || status >= 500) return 'broke';
    cause = cause.cause;
  }
  return null;
}

/** Of an answer of the object storage. */
function httpStatusOf(error: Error): number {
  const metadata = '$metadata' in error ? error.$metadata : null;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return 0;
  return Number(metadata.httpStatusCode);
}
