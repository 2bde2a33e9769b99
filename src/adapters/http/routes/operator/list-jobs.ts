import { z } from 'zod';
import { type JobStatus, jobStatus } from '../../../../domain/job.ts';
import { invalidPage } from '../../documentation.ts';
import { defineRoute } from '../../operation.ts';
import { pageOf, readCursor } from '../../paging.ts';
import { operatorJobExample, operatorJobRecord, operatorJobSchema } from '../../records/operator.ts';
import { pageQuery } from '../../schemas.ts';
import { type WithOperator, operatorOf } from './operator-deps.ts';

const statuses = z
  .string()
  .regex(/^[0-3](?:,[0-3]){0,3}$/, { error: 'status must be a comma-separated list of 0, 1, 2, and 3.' })
  .transform((text) => Object.values(jobStatus).filter((status: JobStatus) => text.includes(String(status))))
  .optional()
  .meta({
    description: 'Lists only jobs with one of these statuses. Separate several statuses with commas.',
    examples: ['1,2,3'],
  });

const query = pageQuery(200, 50).extend({
  partner: z.string().max(40).optional().meta({ description: 'Lists only the jobs of the partner with this name.' }),
  status: statuses,
});

export const listOperatorJobs = defineRoute({
  id: 'listOperatorJobs',
  tag: 'operator',
  method: 'GET',
  path: '/v1/operator/jobs',
  scope: 'operator',
  summary: 'List jobs of all partners',
  description: 'Lists imports, deletes, and audience loads, newest first. A page contains 50 entries by default.',
  query,
  response: {
    status: 200,
    description: 'A page of jobs.',
    schema: z.array(operatorJobSchema).max(200),
    example: [operatorJobExample],
    isPaged: true,
  },
  problems: invalidPage(200),
  handler: (deps: WithOperator) => async (request, reply) => {
    const { limit, cursor, partner = null, status = Object.values(jobStatus) } = request.query;
    const [beforeId = Number.MAX_SAFE_INTEGER] = readCursor(cursor, 'operator jobs', 1);
    const filter = { partner, statuses: status, beforeId, limit: limit + 1 };
    const items = await operatorOf(deps).reads.listJobs(filter);
    return pageOf(request, reply, { list: 'operator jobs', limit, items }, ({ id }) => [id]).map(operatorJobRecord);
  },
});
