import { Failure } from './failure.ts';

/** Makes every check of a request, so that its sender hears of all faults at once, in the words of the first. */
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
