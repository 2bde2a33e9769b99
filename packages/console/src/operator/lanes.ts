import { formatAge, formatTimeOfDay } from './times.ts';
import type { Lane, LaneFailure } from './operator-api.ts';

/** A running job has no reason to be silent for longer. The alert InletLaneStandsStill has the same threshold. */
const silentSeconds = 3_600;

export function isWaiting({ paused, state, files }: Lane): boolean {
  return paused || (state !== 'running' && !(state === 'waiting_for_files' && files.loading > 0));
}

/** Whether the wait is unlikely to end on its own within seconds. */
export function isStuck({ paused, state }: Lane): boolean {
  return !paused && (state === 'waiting_to_retry' || state === 'without_token');
}

function secondsSince(iso: string, now: number): number {
  return (now - Date.parse(iso)) / 1000;
}

/**
 * Stuck lanes come first, then the lane with the oldest job. Other states change every few seconds, and rows that move
 * on every refresh cannot be read.
 */
export function sortLanes(lanes: readonly Lane[]): Lane[] {
  const rank = (lane: Lane): number => (isStuck(lane) ? 0 : 1);
  return lanes.toSorted((one, other) => rank(one) - rank(other) || one.oldest_job.job_id - other.oldest_job.job_id);
}

/** `a retry at 9:04 PM` */
export function reasonOf(lane: Lane, now: number): string {
  if (lane.paused) return 'the backup';
  switch (lane.state) {
    case 'running':
      return 'its own step';
    case 'waiting_for_worker':
      return 'a free worker';
    case 'waiting_to_retry':
      return retryOf(lane, now);
    case 'waiting_for_files':
      return 'files to load';
    case 'suspended':
      return 'an operator, because the partner is suspended';
    case 'without_token':
      return 'token recovery';
  }
}

function retryOf({ next_attempt_at }: Lane, now: number): string {
  if (next_attempt_at === null || Date.parse(next_attempt_at) <= now) return 'a retry that is due';
  const isSoon = Date.parse(next_attempt_at) - now < 120_000;
  return `a retry at ${formatTimeOfDay(next_attempt_at, isSoon ? 'medium' : 'short')}`;
}

const dependencies: Readonly<Record<NonNullable<LaneFailure['dependency']>, string>> = {
  postgresql: 'PostgreSQL',
  clickhouse: 'ClickHouse',
  storage: 'the object storage',
  partner_storage: "the partner's own bucket",
  aws_credentials: 'the AWS identity of Inlet',
};

const failures: Readonly<Record<string, string>> = {
  topology_mismatch: 'the ClickHouse servers differed from the recorded topology',
  merges_behind: 'ClickHouse had not merged enough parts',
  replicas_behind: 'a ClickHouse replica was behind',
  bucket_mismatch: 'the shared bucket was not the recorded one',
  credentials_unreadable: 'the stored credentials could not be decrypted',
  storage_address_refused: "the address of the partner's own bucket was private",
  rows_missing: 'rows were missing in ClickHouse',
};

/** Says why the last attempt failed, for example `ClickHouse was unavailable`. */
export function causeOf({ code, dependency }: LaneFailure): string {
  const server = dependency && dependencies[dependency];
  if (code === 'unavailable') return `${server ?? 'a server'} was unavailable`;
  if (code === 'internal') return `an unexpected error occurred${server === null ? '' : ` with ${server}`}`;
  return failures[code] ?? `it failed with ${code}`;
}

/**
 * Says which partner is waiting, how long, and for what. Suspended partners are excluded, because they are meant to
 * wait.
 */
export function summarize(lanes: readonly Lane[], now: number, hasMore: boolean): string {
  const active = lanes.filter(({ state }) => state !== 'suspended');
  const waiting = active.filter(isWaiting);
  const [first, ...others] = waiting.toSorted((one, other) => Date.parse(one.since) - Date.parse(other.since));
  if (!first) {
    if (lanes.length === 0) return 'No partner is waiting. There are no unfinished jobs.';
    if (active.length === 0) return 'Only suspended partners have unfinished jobs.';
    const count = `${hasMore ? 'at least ' : ''}${active.length}`;
    return `No partner is waiting. Workers are processing jobs for ${count} ${active.length === 1 ? 'partner' : 'partners'}.`;
  }
  const { last_failure } = first;
  const cause = isStuck(first) && last_failure ? `, because ${causeOf(last_failure)}` : '';
  const wait = `${first.partner}, ${formatAge(secondsSince(first.since, now))}, for ${reasonOf(first, now)}${cause}`;
  if (others.length === 0 && !hasMore) return `1 partner is waiting: ${wait}.`;
  const verb = waiting.length === 1 ? 'partner is' : 'partners are';
  return `${hasMore ? 'At least ' : ''}${waiting.length} ${verb} waiting. The longest: ${wait}.`;
}

/** Tells the operator what to do about the lane. */
export function nextStepOf(lane: Lane, now: number): string {
  if (lane.paused) return 'Wait. A backup pauses publishing, and loads resume when it has made its cut.';
  const isSilent = secondsSince(lane.since, now) > silentSeconds;
  switch (lane.state) {
    case 'without_token':
      return 'Token recovery fixes this within 10 s. If it does not, restart the workers and keep their logs.';
    case 'waiting_to_retry':
      return stepAfter(lane.last_failure);
    case 'suspended':
      return `Do nothing, or resume the partner: \`inlet partner resume ${lane.partner}\`.`;
    case 'waiting_for_worker':
      return 'Wait. If many partners are waiting for a worker, start more workers.';
    case 'waiting_for_files':
    case 'running':
      if (isSilent) return 'Open the job: look for a very large file, a long delete, or many attempts.';
      return lane.files.loading === 0 && lane.state === 'waiting_for_files'
        ? 'Wait. If no file starts to load, check that workers are running.'
        : 'Nothing to do.';
  }
}

function stepAfter(failure: LaneFailure | null): string {
  if (failure === null)
    return 'A dependency is unavailable, or an attempt failed. Run `inlet doctor`, then open the job.';
  if (failure.dependency === 'partner_storage')
    return 'Ask the partner to make its bucket available, or cancel the job.';
  if (failure.code === 'internal') return 'Open the job, and find the error in the worker logs.';
  return 'Run `inlet doctor`, which names the server and the remedy. Work resumes automatically.';
}
