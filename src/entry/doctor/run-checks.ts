import { withTimeout } from '../timeouts.ts';

/** A condition that Inlet needs to work. */
export type Check = {
  readonly name: string;
  /** What to do when the check fails. */
  readonly remedy: string;
  /** The checks that have to succeed first. If one of them fails, it is the cause. */
  readonly needs: readonly string[];
  /** Returns a description of the state, or throws an error that describes the problem. */
  readonly run: () => Promise<string>;
};

export type CheckResult = {
  readonly name: string;
  readonly isOk: boolean;
  readonly message: string;
  readonly remedy: string;
  /**
   * The name of the failed check that has to be fixed first. Null for a check that succeeded, and for a check that
   * failed without such a cause.
   */
  readonly causedBy: string | null;
  readonly milliseconds: number;
};

const checkTimeoutMs = 5_000;

/** Checks run concurrently, so that an unresponsive server does not hide the results of the others. */
export async function runChecks(checks: readonly Check[]): Promise<CheckResult[]> {
  const outcomes = await Promise.all(
    checks.map(async ({ name, remedy, run }) => {
      const start = performance.now();
      const outcome = await withTimeout(run(), checkTimeoutMs).then(
        (message) => ({ isOk: true, message }),
        (error: unknown) => ({ isOk: false, message: messageOf(error) }),
      );
      return { name, remedy, ...outcome, milliseconds: Math.round(performance.now() - start) };
    }),
  );
  const failed = new Set(outcomes.filter(({ isOk }) => !isOk).map(({ name }) => name));
  return outcomes.map((outcome) => ({
    ...outcome,
    causedBy: outcome.isOk ? null : causeOf(outcome.name, checks, failed),
  }));
}

/** Returns the failed check that caused this check to fail and that was not itself caused by another one. */
function causeOf(
  name: string,
  checks: readonly Pick<Check, 'name' | 'needs'>[],
  failed: ReadonlySet<string>,
): string | null {
  const needs = checks.find((check) => check.name === name)?.needs ?? [];
  const first = needs.find((need) => failed.has(need));
  return first === undefined ? null : (causeOf(first, checks, failed) ?? first);
}

const maxClockSeconds = 60;

export const clockRemedy =
  'Synchronize the clocks (NTP). Loads are not affected, but the storage rejects signatures that are more than 15 minutes old, and times in records and logs are wrong.';

/** Throws if the server's clock differs from the clock of this machine. */
export function describeClock(serverMs: number, zone: string): string {
  const seconds = Math.round((serverMs - Date.now()) / 1000);
  if (Math.abs(seconds) <= maxClockSeconds) return `${Math.abs(seconds)} s apart from this machine, time zone ${zone}`;
  const direction = seconds > 0 ? 'ahead of' : 'behind';
  throw new Error(`${Math.abs(seconds)} s ${direction} this machine`);
}

/**
 * A socket error may have an empty message. In that case, its code or the errors of the attempted addresses describe
 * the problem.
 */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // If the storage sends only a code, the S3 client uses this text as the message and the code as the name.
  if (error.message === 'UnknownError') return error.name;
  return error.message === '' ? code : error.message;
}
