/**
 * The process could not obtain its own credentials, for example because the instance metadata did not respond or STS
 * rejected the role. No request can cause this, and it lasts until the operator or AWS acts.
 */
export class IdentityError extends Error {
  constructor(cause: unknown) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    super(`Inlet cannot obtain its own credentials: ${reason}`, { cause });
    this.name = 'IdentityError';
  }
}

/** Codes that mean that the server was not reached. The request had no effect and cannot be the cause. */
const unavailableCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EAI_AGAIN',
  'ENOTFOUND',
  'ETIMEDOUT',
  // PostgreSQL is shutting down, is starting up, or is out of disk space, memory, or connections.
  '57P01',
  '57P02',
  '57P03',
  '53100',
  '53200',
  '53300',
  // Inlet's own failures, which last until the operator acts or ClickHouse has merged enough parts.
  'topology_mismatch',
  'merges_behind',
  'replicas_behind',
  'bucket_mismatch',
  'credentials_unreadable',
]);
/** ClickHouse error types for an unavailable shard and for a server that is overloaded or out of disk space. */
const unavailableTypes = new Set([
  'ALL_CONNECTION_TRIES_FAILED',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
  'TOO_MANY_PARTS',
  'NOT_ENOUGH_SPACE',
  'TABLE_IS_READ_ONLY',
  'DNS_ERROR',
  // ClickHouse Keeper or another replica is unavailable, or a change has not reached all replicas yet.
  'KEEPER_EXCEPTION',
  'NO_ZOOKEEPER',
  'UNKNOWN_STATUS_OF_INSERT',
  'UNFINISHED',
  'CANNOT_ASSIGN_ALTER',
  'ALL_REPLICAS_ARE_STALE',
]);
/** The last two alternatives match limits of the whole ClickHouse server or user, which other statements can use up. */
const unavailableMessages =
  /^timeout exceeded when trying to connect$|No space left on device|^(?:\(total\)|User) memory limit exceeded|^Memory limit \((?:total|for user)\) exceeded/;
const unavailableStatuses = new Set([429, 502, 503, 504]);

/** Codes that mean that the connection was lost or the statement was stopped. The request may be the cause. */
const brokenCodes = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  // PostgreSQL: statement timeout and idle-in-transaction timeout.
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
const brokenMessages =
  /^(?:Timeout error\.?|socket hang up|aborted|Connection terminated.*|Client .* is not queryable|Query read timeout|timeout expired)$/;

const maxCauseDepth = 8;

/**
 * Classifies an error by its code and the codes of its causes. `away` means that a dependency is unavailable, so
 * waiting helps. `broke` means that a connection was lost during a request. Waiting then helps, unless the request
 * itself always breaks the connection. Null means that the error is not transient. The values are labels of the retry
 * metric.
 */
export function transientErrorKind(error: unknown): 'away' | 'broke' | null {
  for (const cause of withCauses(error)) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
    const type = 'type' in cause && typeof cause.type === 'string' ? cause.type : '';
    const status = httpStatusOf(cause);
    const { message } = cause;
    if (
      unavailableCodes.has(code) ||
      unavailableTypes.has(type) ||
      unavailableMessages.test(message) ||
      unavailableStatuses.has(status) ||
      cause instanceof IdentityError
    )
      return 'away';
    const isTimeout = cause.name === 'TimeoutError';
    const isBroken =
      /^08...$/.test(code) || brokenCodes.has(code) || brokenTypes.has(type) || brokenMessages.test(message);
    if (isBroken || isTimeout || status >= 500) return 'broke';
  }
  return null;
}

/**
 * Returns whether the error means that a dependency is unavailable, or that the storage failed to process a request. The
 * storage returns the latter for every request while it is down. Other lost connections do not count, because the
 * request may be the cause, and neither do responses that stay the same: 501 and 505.
 */
export function isOutage(error: unknown): boolean {
  const kind = transientErrorKind(error);
  return (
    kind === 'away' || (kind === 'broke' && withCauses(error).some((cause) => isOutageStatus(httpStatusOf(cause))))
  );
}

function isOutageStatus(status: number): boolean {
  return status >= 500 && status !== 501 && status !== 505;
}

function withCauses(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < maxCauseDepth; cause = cause.cause)
    causes.push(cause);
  return causes;
}

/** The HTTP status of an AWS SDK error, or 0 for other errors. */
function httpStatusOf(error: Error): number {
  const metadata = '$metadata' in error ? error.$metadata : null;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return 0;
  return Number(metadata.httpStatusCode);
}
