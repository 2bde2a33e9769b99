import { z } from 'zod';
import { noSuchJob } from '../../../../usecases/admin/manage-jobs.ts';
import { userTokenWithSession } from '../../documentation.ts';
import { defineRoute } from '../../operation.ts';
import {
  maxFilesShown,
  operatorFileRecord,
  operatorJobDetailsSchema,
  operatorJobExample,
  operatorJobRecord,
} from '../../records/operator.ts';
import { pathId } from '../../schemas.ts';
import { type WithOperator, operatorOf } from './operator-deps.ts';

export const getOperatorJob = defineRoute({
  id: 'getOperatorJob',
  tag: 'operator',
  method: 'GET',
  path: '/v1/operator/jobs/:job_id',
  scope: 'operator',
  summary: 'Get a job of any partner',
  description: `Returns the job and its first ${maxFilesShown} files.`,
  params: z.object({ job_id: pathId('ID of the job.', 1) }),
  response: {
    status: 200,
    description: 'The job.',
    schema: operatorJobDetailsSchema,
    example: {
      ...operatorJobExample,
      files: [
        {
          file_id: 71,
          path: 'daily/2026-11-15/1.csv.gz',
          bytes: 113,
          status: 3,
          staged: false,
          attempts: 1,
          rows: 0,
          accepted_rows: 0,
          error: { code: 'gzip_damaged', message: 'The gzip data is damaged.' },
        },
      ],
      has_more_files: false,
    },
  },
  problems: {
    not_found: { detail: 'Job 1 does not exist. Run `inlet jobs list` to see the jobs.' },
    ...userTokenWithSession,
  },
  handler: (deps: WithOperator) => async (request) => {
    const { job_id: jobId } = request.params;
    const found = await operatorOf(deps).reads.findJob(jobId, maxFilesShown + 1);
    if (!found) throw noSuchJob(jobId);
    return {
      ...operatorJobRecord(found.job),
      files: found.files.slice(0, maxFilesShown).map(operatorFileRecord),
      has_more_files: found.files.length > maxFilesShown,
    };
  },
});
