import { z } from 'zod';
import type { BackupRecord } from '../../../../ports/backup.ts';
import { userTokenWithSession } from '../../documentation.ts';
import { defineRoute } from '../../operation.ts';
import { timestamp } from '../../schemas.ts';
import { type WithOperator, operatorOf } from './operator-deps.ts';

/** Maximum number of backups in the list. */
const listed = 30;

const backupSchema = z
  .object({
    backup_id: z.int(),
    outcome: z.enum(['complete', 'failed']),
    started_at: timestamp,
    finished_at: timestamp,
    taken_at: timestamp
      .nullable()
      .meta({ description: 'The point in time whose state a restore brings back. Null if the backup failed.' }),
    bytes: z
      .int()
      .nullable()
      .meta({ description: 'Size of the dump and of the ClickHouse backups. Null if the backup failed.' }),
    destination: z.string().meta({ description: 'Folder of the dump, and the disk of the ClickHouse backups.' }),
    error: z.string().nullable().meta({ description: 'Why the backup failed. Null if it is complete.' }),
  })
  .meta({ id: 'OperatorBackup' });

const backupsSchema = z
  .object({
    newest_complete: backupSchema
      .extend({ age_seconds: z.int().meta({ description: 'Time since `taken_at`.' }) })
      .nullable()
      .meta({ description: 'The backup to restore. Null if no complete backup is recorded.' }),
    backups: z
      .array(backupSchema)
      .max(listed)
      .meta({ description: `The ${listed} most recent attempts, newest first.` }),
    cli: z
      .array(z.object({ action: z.enum(['back_up']), command: z.string() }))
      .max(10)
      .meta({ description: 'The command that takes a backup. Replace the folder.' }),
  })
  .meta({ id: 'OperatorBackups' });

const example = {
  backup_id: 12,
  outcome: 'complete' as const,
  started_at: '2026-11-15T01:00:00.120Z',
  finished_at: '2026-11-15T01:12:18.654Z',
  taken_at: '2026-11-15T01:00:01.480Z',
  bytes: 719_401_322,
  destination: '/mnt/backups/inlet-2026-11-15, ClickHouse disk backups',
  error: null,
};

const cli = [{ action: 'back_up' as const, command: 'inlet backup <folder>' }];

export const listOperatorBackups = defineRoute({
  id: 'listOperatorBackups',
  tag: 'operator',
  method: 'GET',
  path: '/v1/operator/backups',
  scope: 'operator',
  summary: 'List backups',
  description: `Lists the ${listed} most recent finished attempts of \`inlet backup\`. Backups that other tools take are not recorded.`,
  response: {
    status: 200,
    description: 'The backups.',
    schema: backupsSchema,
    example: { newest_complete: { ...example, age_seconds: 43_200 }, backups: [example], cli },
  },
  problems: userTokenWithSession,
  handler: (deps: WithOperator) => async () => {
    const { backups } = operatorOf(deps);
    const [all, newest] = await Promise.all([backups.list(listed), backups.findNewestComplete()]);
    return {
      newest_complete: newest && { ...backupRecord(newest), age_seconds: ageOf(newest) },
      backups: all.map(backupRecord),
      cli,
    };
  },
});

function ageOf({ takenAt, startedAt }: BackupRecord): number {
  return Math.max(0, Math.round((Date.now() - (takenAt ?? startedAt).getTime()) / 1000));
}

function backupRecord(backup: BackupRecord): z.input<typeof backupSchema> {
  return {
    backup_id: backup.id,
    outcome: backup.failure === null ? 'complete' : 'failed',
    started_at: backup.startedAt.toISOString(),
    finished_at: backup.finishedAt.toISOString(),
    taken_at: backup.takenAt?.toISOString() ?? null,
    bytes: backup.bytes,
    destination: backup.destination,
    error: backup.failure,
  };
}
