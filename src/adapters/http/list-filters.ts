import { isRejectReason } from '@inlet/row-rule/row-rule';
import { z } from 'zod';
import { isFailureCode } from '../../domain/failure-catalog.ts';
import { logType } from '../../domain/import-log.ts';
import { type JobStatus, jobStatus } from '../../domain/job.ts';
import { pageQuery } from './schemas.ts';

// The query parameters that restrict lists.

const statusCodes: readonly JobStatus[] = Object.values(jobStatus);

/** A comma-separated list, such as `0,1`. */
const statuses = z
  .string()
  .regex(/^[0-3](?:,[0-3])*$/, {
    error: 'status must be a comma-separated list of 0 (pending), 1 (running), 2 (done), and 3 (error).',
  })
  .transform((list) => statusCodes.filter((code) => list.includes(String(code))))
  .optional()
  .meta({
    description: 'Only entries with one of these statuses. Separate several statuses with commas.',
    examples: ['0,1'],
  });

/** PostgreSQL rejects NUL. File names can contain any other character. */
function text(name: string, max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !value.includes('\0'), { error: `${name} must not contain NUL.` });
}

const isoDate = z.iso.date();
const isoTime = z.iso.datetime({ offset: true });

function moment(name: string) {
  return z
    .string()
    .refine((value) => isoDate.safeParse(value).success || isoTime.safeParse(value).success, {
      error: `${name} must be an ISO 8601 date or time with a time zone, for example 2026-11-15T09:30:00Z.`,
    })
    .transform((value) => new Date(value))
    .optional();
}

const created = {
  created_from: moment('created_from').meta({
    description: 'Only entries created at or after this time (ISO 8601). A date means its start in UTC.',
    examples: ['2026-11-01'],
  }),
  created_to: moment('created_to').meta({
    description: 'Only entries created before this time (ISO 8601). A date means its start in UTC.',
    examples: ['2026-11-15T09:30:00Z'],
  }),
};

export const importListQuery = pageQuery(100, 100).extend({
  status: statuses,
  log_type: z
    .enum(['0', '1'], { error: 'log_type must be 0 (imports) or 1 (deletes).' })
    .transform((value) => (value === '0' ? logType.import : logType.delete))
    .optional()
    .meta({ description: 'Only imports (0) or only deletes (1).', examples: ['0'] }),
  path: text('path', 1200)
    .optional()
    .meta({ description: 'Only imports whose `file_path` starts with this text.', examples: ['daily/'] }),
  ...created,
});

export const audienceListQuery = pageQuery(1000, 1000).extend({
  status: statuses,
  name: text('name', 256)
    .optional()
    .meta({
      description: 'Only audiences whose name contains this text, in upper or lower case.',
      examples: ['summer'],
    }),
  customer: text('customer', 100)
    .optional()
    .meta({
      description:
        'The name of one of your customers, whose audiences are listed instead of your own. `*` lists your own audiences and those of all customers. Not allowed together with a user token.',
      examples: ['*'],
    }),
  ...created,
});

export const deletionListQuery = pageQuery(100, 20).extend({ status: statuses, ...created });

export function fileListQuery(max: number) {
  return pageQuery(max, 100).extend({ status: statuses });
}

export const maxErrors = 1000;

export const errorListQuery = pageQuery(maxErrors, 100).extend({
  code: z
    .string()
    .refine((code) => isRejectReason(code) || isFailureCode(code), {
      error: 'code must be a code from the list of errors, for example invalid_id.',
    })
    .optional()
    .meta({ description: 'Only errors with this code.', examples: ['invalid_id'] }),
  file: text('file', 2400)
    .optional()
    .meta({ description: 'Only errors in the file with exactly this path, as shown in the list.' }),
});
