import { z } from 'zod';
import { invalidPage } from '../../documentation.ts';
import { defineRoute } from '../../operation.ts';
import { pageOf, readCursor } from '../../paging.ts';
import { operatorLaneRecord, operatorLaneSchema } from '../../records/operator.ts';
import { pageQuery } from '../../schemas.ts';
import { type WithOperator, operatorOf } from './operator-deps.ts';

export const listOperatorLanes = defineRoute({
  id: 'listOperatorLanes',
  tag: 'operator',
  method: 'GET',
  path: '/v1/operator/lanes',
  scope: 'operator',
  summary: 'List lanes',
  description:
    'Lists the partners that have unfinished jobs and what each of them is waiting for. The partner whose oldest job was submitted first comes first. A page contains 50 entries by default.',
  query: pageQuery(200, 50),
  response: {
    status: 200,
    description: 'A page of lanes.',
    schema: z.array(operatorLaneSchema).max(200),
    example: [
      {
        partner_id: 1,
        partner: 'acme',
        state: 'waiting_to_retry',
        waits_for: 'the next attempt, because a dependency was unavailable or an attempt failed',
        since: '2026-11-15T01:12:18.301Z',
        next_attempt_at: '2026-11-15T01:12:48.301Z',
        last_failure: { code: 'unavailable', dependency: 'partner_storage' },
        paused: false,
        open_jobs: 3,
        oldest_job: {
          job_id: 1,
          kind: 'import',
          status: 1,
          created_at: '2026-11-15T01:12:18.268Z',
          started_at: '2026-11-15T01:12:18.301Z',
        },
        files: { open: 2, loading: 0, finished: 7 },
        cli: [
          { action: 'list_jobs', command: 'inlet jobs list --partner acme' },
          { action: 'show', command: 'inlet jobs show 1' },
          { action: 'cancel', command: 'inlet jobs cancel 1' },
          { action: 'suspend', command: 'inlet partner suspend acme' },
        ],
      },
    ],
    isPaged: true,
  },
  problems: invalidPage(200),
  handler: (deps: WithOperator) => async (request, reply) => {
    const { reads } = operatorOf(deps);
    const { limit, cursor } = request.query;
    const [afterJobId = 0] = readCursor(cursor, 'operator lanes', 1);
    const [items, isPaused] = await Promise.all([reads.listLanes({ afterJobId, limit: limit + 1 }), reads.isPaused()]);
    const page = pageOf(request, reply, { list: 'operator lanes', limit, items }, ({ oldestJob }) => [oldestJob.id]);
    return page.map((lane) => operatorLaneRecord(lane, isPaused));
  },
});
