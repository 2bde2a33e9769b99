import { describe, expect, it } from 'vitest';
import { formatTimeOfDay } from './times.ts';
import { failureLink } from './incidents.ts';
import { causeOf, isWaiting, nextStepOf, sortLanes, summarize } from './lanes.ts';
import type { Lane } from './operator-api.ts';

const now = Date.parse('2026-11-18T21:00:00Z');
const retryAt = '2026-11-18T21:04:00Z';

type Changes = Omit<Partial<Lane>, 'oldest_job'> & { readonly jobId?: number };

function lane({ jobId = 1, ...changes }: Changes = {}): Lane {
  return {
    partner_id: 1,
    partner: 'acme',
    state: 'running',
    waits_for: '',
    since: '2026-11-18T20:48:00Z',
    next_attempt_at: null,
    last_failure: null,
    paused: false,
    open_jobs: 1,
    oldest_job: { job_id: jobId, kind: 'import', status: 1, created_at: '2026-11-18T20:00:00Z', started_at: null },
    files: { open: 1, loading: 0, finished: 0 },
    cli: [],
    ...changes,
  };
}

const retrying = lane({ state: 'waiting_to_retry', next_attempt_at: retryAt });

describe('the summary of the lanes', () => {
  it('names the partner that has waited longest, with the waiting time and the reason', () => {
    const lanes = [
      lane({ partner: 'beta', state: 'waiting_for_worker', since: '2026-11-18T20:59:00Z' }),
      retrying,
      lane({ partner: 'gamma', state: 'without_token', since: '2026-11-18T20:58:00Z' }),
      lane({ partner: 'delta', since: '2026-11-18T10:00:00Z' }),
    ];
    expect(summarize(lanes, now, false)).toBe(
      `3 partners are waiting. The longest: acme, 12 min, for a retry at ${formatTimeOfDay(retryAt)}.`,
    );
  });

  it('says why the last attempt failed if the lane is stuck', () => {
    const last_failure = { code: 'unavailable', dependency: 'partner_storage' } as const;
    expect(summarize([{ ...retrying, last_failure }], now, false)).toBe(
      `1 partner is waiting: acme, 12 min, for a retry at ${formatTimeOfDay(retryAt)}, because the partner's own bucket was unavailable.`,
    );
  });

  it('uses the singular for one partner', () => {
    expect(summarize([retrying], now, false)).toBe(
      `1 partner is waiting: acme, 12 min, for a retry at ${formatTimeOfDay(retryAt)}.`,
    );
  });

  it('does not give the time of a retry that is due', () => {
    const due = lane({ state: 'waiting_to_retry', next_attempt_at: '2026-11-18T20:59:59Z' });
    expect(summarize([due], now, false)).toBe('1 partner is waiting: acme, 12 min, for a retry that is due.');
  });

  it('says "at least" if there are more lanes than the page shows', () => {
    expect(summarize([retrying], now, true)).toMatch(/^At least 1 partner is waiting\. The longest: acme,/);
    expect(summarize([lane(), lane()], now, true)).toMatch(/at least 2 partners/);
  });

  it('says that no partner is waiting', () => {
    expect(summarize([], now, false)).toBe('No partner is waiting. There are no unfinished jobs.');
    expect(summarize([lane()], now, false)).toBe('No partner is waiting. Workers are processing jobs for 1 partner.');
  });

  it('does not count suspended partners, which wait until an operator resumes them', () => {
    const suspended = lane({ partner: 'beta', state: 'suspended', since: '2026-11-10T00:00:00Z' });
    expect(summarize([suspended, retrying], now, false)).toMatch(/^1 partner is waiting: acme/);
    expect(summarize([suspended, lane()], now, false)).toMatch(/jobs for 1 partner\.$/);
    expect(summarize([suspended], now, false)).toBe('Only suspended partners have unfinished jobs.');
    expect(isWaiting(suspended)).toBe(true);
  });

  it('names the backup if one pauses publishing', () => {
    expect(summarize([lane({ paused: true })], now, false)).toBe('1 partner is waiting: acme, 12 min, for the backup.');
  });
});

describe('a lane', () => {
  it('waits for files only if no worker is loading them', () => {
    const state = 'waiting_for_files';
    expect(isWaiting(lane({ state, files: { open: 2, loading: 1, finished: 0 } }))).toBe(false);
    expect(isWaiting(lane({ state, files: { open: 2, loading: 0, finished: 0 } }))).toBe(true);
  });

  it('that is stuck comes first, then the lane with the oldest job', () => {
    const lanes = [
      lane({ jobId: 1 }),
      lane({ jobId: 2, state: 'waiting_for_worker' }),
      lane({ jobId: 4, state: 'without_token' }),
      lane({ jobId: 3, state: 'waiting_to_retry' }),
    ];
    expect(sortLanes(lanes).map(({ oldest_job }) => oldest_job.job_id)).toEqual([3, 4, 1, 2]);
  });

  it('asks the operator to look at its job if it has been silent for an hour', () => {
    expect(nextStepOf(lane({ since: '2026-11-18T19:59:00Z' }), now)).toMatch(/^Open the job/);
    expect(nextStepOf(lane({ since: '2026-11-18T20:01:00Z' }), now)).toBe('Nothing to do.');
  });
});

describe('the failure of the last attempt', () => {
  it.each([
    ['unavailable', 'clickhouse', 'ClickHouse was unavailable', 'unavailable'],
    ['unavailable', 'partner_storage', "the partner's own bucket was unavailable", 'partner_storage'],
    ['unavailable', 'aws_credentials', 'the AWS identity of Inlet was unavailable', 'aws_credentials'],
    ['unavailable', null, 'a server was unavailable', 'unavailable'],
    [
      'storage_address_refused',
      'partner_storage',
      "the address of the partner's own bucket was private",
      'partner_storage',
    ],
    ['replicas_behind', 'clickhouse', 'a ClickHouse replica was behind', 'replicas_behind'],
    ['merges_behind', 'clickhouse', 'ClickHouse had not merged enough parts', 'merges_behind'],
    [
      'topology_mismatch',
      'clickhouse',
      'the ClickHouse servers differed from the recorded topology',
      'topology_mismatch',
    ],
    ['bucket_mismatch', 'storage', 'the shared bucket was not the recorded one', 'bucket_mismatch'],
    ['credentials_unreadable', null, 'the stored credentials could not be decrypted', 'credentials_unreadable'],
    ['internal', 'clickhouse', 'an unexpected error occurred with ClickHouse', 'internal'],
    ['internal', null, 'an unexpected error occurred', 'internal'],
  ] as const)('is described in words, with a link to its incident: %s, %s', (code, dependency, words, anchor) => {
    expect(causeOf({ code, dependency })).toBe(words);
    expect(failureLink({ code, dependency })).toBe(`/console/operator/incidents#${anchor}`);
  });

  it('is named by its code, without a link, if the console does not know it', () => {
    expect(causeOf({ code: 'new_failure', dependency: null })).toBe('it failed with new_failure');
    expect(failureLink({ code: 'new_failure', dependency: null })).toBeNull();
  });

  it('decides the next step', () => {
    const after = (code: string, dependency: 'clickhouse' | 'partner_storage' | null): string =>
      nextStepOf({ ...retrying, last_failure: { code, dependency } }, now);
    expect(after('unavailable', 'partner_storage')).toMatch(/^Ask the partner/);
    expect(after('unavailable', 'clickhouse')).toMatch(/^Run `inlet doctor`/);
    expect(after('internal', null)).toMatch(/^Open the job/);
  });
});
