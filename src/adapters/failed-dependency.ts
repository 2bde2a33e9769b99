import { type AttemptFailure, type Dependency, attemptFailure } from '../domain/attempt-failure.ts';
import { Failure } from '../domain/failure.ts';
import { IdentityError, transientErrorKind } from './transient-errors.ts';

// An error such as ECONNREFUSED does not show which server was called, so the adapters remember it for each error.

const failedDependencies = new WeakMap<Error, Dependency>();

/** Records which dependency caused the error, unless that is already known. Returns the error. */
export function blame(dependency: Dependency, error: unknown): unknown {
  if (error instanceof Error && !failedDependencies.has(error)) failedDependencies.set(error, dependency);
  return error;
}

/** Runs a request to a dependency. */
export async function blaming<T>(dependency: Dependency, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw blame(dependency, error);
  }
}

const maxCauseDepth = 8;

/** Describes an error after which the attempt is repeated. */
export function attemptFailureOf(error: unknown): AttemptFailure {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < maxCauseDepth; cause = cause.cause) {
    causes.push(cause);
  }
  const failure = causes.find((cause) => cause instanceof Failure);
  const code = failure?.code ?? (transientErrorKind(error) === null ? 'internal' : 'unavailable');
  return attemptFailure(code, dependencyOf(causes));
}

function dependencyOf(causes: readonly Error[]): Dependency | null {
  // The request to the storage was not sent.
  if (causes.some((cause) => cause instanceof IdentityError)) return 'aws_credentials';
  for (const cause of causes) {
    const known = failedDependencies.get(cause) ?? (isOfPostgres(cause) ? 'postgresql' : null);
    if (known !== null) return known;
  }
  return null;
}

/** Messages from the client `pg`, whose errors have no specific type. */
const postgresMessages =
  /^timeout exceeded when trying to connect$|^timeout expired$|^Query read timeout$|^Connection terminated|^Client .* is not queryable$/;

/** Errors that PostgreSQL returns have a severity. */
function isOfPostgres(error: Error): boolean {
  return 'severity' in error || postgresMessages.test(error.message);
}
