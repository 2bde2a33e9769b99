import { Failure } from './failure.ts';

/** Runs every check and reports all invalid fields at once, with the code and detail of the first failure. */
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
