import { type FailureCode, failureCatalog } from './failure-catalog.ts';
import type { CatalogEntry } from './job-failures.ts';

export type FieldError = {
  /** JSON pointer (RFC 6901). */
  readonly pointer: string;
  /** Name of the query parameter or header. Absent for fields in the body. */
  readonly parameter?: string;
  readonly detail: string;
};

/**
 * A failure with a code from the catalog. `detail` describes this occurrence. The catalog contains the cause and the
 * remedy.
 */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly detail: string;
  readonly fields: readonly FieldError[];
  /** The number of seconds after which a retry can succeed, if known. */
  readonly retryAfterSeconds: number | null;

  constructor(
    code: FailureCode,
    detail: string,
    options: { cause?: unknown; fields?: readonly FieldError[]; retryAfterSeconds?: number } = {},
  ) {
    super(`${code}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Failure';
    this.code = code;
    this.detail = detail;
    this.fields = options.fields ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }

  get entry(): CatalogEntry {
    return failureCatalog[this.code];
  }

  /** True when a retry cannot succeed. */
  get isFinal(): boolean {
    return !this.entry.isRetryable;
  }
}

/** Runs every check and reports all invalid fields together, with the code and detail of the first failure. */
export function requireAll(checks: readonly (() => void)[]): void {
  const [first, ...others] = checks.flatMap(failureOf);
  if (!first) return;
  if (others.length === 0) throw first;
  const fields = [first, ...others].flatMap((failure) => failure.fields);
  throw new Failure(first.code, first.detail, { cause: first.cause, fields });
}

function failureOf(check: () => void): Failure[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof Failure) return [error];
    throw error;
  }
}
