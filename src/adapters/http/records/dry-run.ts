import { type RejectReason, columnOfReason } from '@inlet/row-rule/row-rule';
import { z } from 'zod';
import { type DryRun, type SampledFile, dryRunLimits } from '../../../domain/dry-run.ts';
import { code } from '../schemas.ts';

const errorSchema = z.object({ code, message: z.string() }).nullable();

const fileSchema = z
  .object({
    file: z.string(),
    bytes: z.int(),
    compressed: z.boolean().nullable().meta({ description: 'Whether the file is gzipped. Null if it was not read.' }),
    columns: z.array(z.string()).nullable().meta({ description: 'The columns of the file. Null if they are unknown.' }),
    delimiter: z.string().nullable(),
    header_row: z.int().nullable().meta({ description: 'Line number of the header. Null if the file has none.' }),
    accepted_rows: z.int().meta({ description: 'Number of accepted rows in the sample.' }),
    rejected_rows: z.int().meta({ description: 'Number of rejected rows in the sample.' }),
    complete: z.boolean().meta({ description: 'Whether the sample is the whole file.' }),
    reasons: z.array(
      z.object({ code, message: z.string(), column: z.string().nullable(), row: z.int(), count: z.int() }),
    ),
    error: errorSchema.meta({ description: 'Why the file would fail.' }),
  })
  .meta({ id: 'DryRunFile' });

export const dryRunSchema = z
  .object({
    files_total: z.int(),
    bytes_total: z.int(),
    files: z
      .array(fileSchema)
      .max(dryRunLimits.files)
      .meta({ description: `The first ${dryRunLimits.files} files.` }),
    error: errorSchema.meta({ description: 'Why the whole import would fail.' }),
  })
  .meta({ id: 'DryRun' });

type DryRunRecord = z.input<typeof dryRunSchema>;

export function dryRunRecord({ files, bytes, sampled, failure }: DryRun): DryRunRecord {
  return { files_total: files, bytes_total: bytes, files: sampled.map(fileRecord), error: errorOf(failure) };
}

function fileRecord({
  path,
  bytes,
  isGzip,
  layout,
  rows,
  isComplete,
  fault,
}: SampledFile): DryRunRecord['files'][number] {
  return {
    file: path,
    bytes,
    compressed: isGzip,
    columns: layout && [...layout.columns],
    delimiter: layout && layout.delimiter,
    header_row: layout && layout.headerRow,
    accepted_rows: rows.good,
    rejected_rows: rows.bad,
    complete: isComplete,
    reasons: rows.reasons.map(({ code: reason, message, count, first_row: row }) => ({
      code: reason,
      message,
      column: columnOfReason(reason satisfies RejectReason),
      row,
      count,
    })),
    error: errorOf(fault),
  };
}

function errorOf(fault: SampledFile['fault']): z.input<typeof errorSchema> {
  return fault && { code: fault.code, message: fault.detail };
}

export const dryRunExample: DryRunRecord = {
  files_total: 1,
  bytes_total: 113,
  files: [
    {
      file: 'with-bad-rows.csv',
      bytes: 113,
      compressed: false,
      columns: ['id', 'keys'],
      delimiter: ',',
      header_row: null,
      accepted_rows: 2,
      rejected_rows: 1,
      complete: true,
      reasons: [
        {
          code: 'invalid_id',
          message: 'The advertising ID does not have the form 8-4-4-4-12 hexadecimal digits.',
          column: 'id',
          row: 2,
          count: 1,
        },
      ],
      error: null,
    },
  ],
  error: null,
};
