import { type Column, outputFor, several, wholeNumber } from '@inlet/cli';
import type { Command } from 'commander';
import type { AuditEntry } from '../../domain/audit.ts';
import { partnerNamed } from '../../usecases/admin/manage-partners.ts';
import { type OutputOptions, lineCollector, operatorCommand, parseId, printList, when } from './output.ts';
import { withWiring } from './with-wiring.ts';

type AuditOptions = OutputOptions & { readonly partner?: string; readonly since?: string; readonly replicas?: true };
type LogOptions = OutputOptions & { readonly partner?: string; readonly before?: string; readonly limit: number };

const columns: readonly Column<ReturnType<typeof record>>[] = [
  { title: 'ID', align: 'right', of: ({ audit_id }) => audit_id },
  { title: 'TIME', of: ({ at }) => when(at) },
  { title: 'EVENT', of: ({ event }) => event },
  { title: 'ACTOR', of: ({ actor }) => actor, canShrink: true },
  { title: 'PARTNER ID', align: 'right', of: ({ partner_id }) => partner_id },
  { title: 'SUBJECT ID', align: 'right', of: ({ subject_id }) => subject_id },
  { title: 'CODE', of: ({ code }) => code },
  { title: 'CALLS', align: 'right', of: ({ calls }) => calls },
];

export function addAuditCommands(program: Command): void {
  operatorCommand(
    program,
    'audit',
    'compare the records of finished jobs and audiences with the stored rows; exit with code 1 if they differ',
  )
    .option('--partner <name>', 'audit only this partner')
    .option('--since <duration>', 'audit only work that finished in this period, for example 24h')
    .option('--replicas', 'compare the rows of all replicas of each shard instead')
    .action(async ({ partner, since, replicas, ...options }: AuditOptions) => {
      const { auditStoredRows, compareReplicas } = await import('../row-audit.ts');
      const output = outputFor(options);
      const { lines, add } = lineCollector(output);
      if (replicas === true) {
        for (const difference of await compareReplicas()) add(difference);
        output.result({ differences: lines }, () => `${several(lines.length, 'difference')} between replicas`);
        if (lines.length > 0) process.exitCode = 1;
        return;
      }
      const { audited, differing } = await auditStoredRows({ partner: partner ?? null, since: since ?? null }, add);
      output.result(
        { audited, differing, differences: lines },
        () => `${several(audited, 'job or audience', 'jobs and audiences')} audited, ${differing} with differences`,
      );
      if (differing > 0) process.exitCode = 1;
    });
  operatorCommand(
    program,
    'audit-log',
    'list denied calls, changes to partners, keys, and attributes, and jobs that operators canceled or retried, newest first',
  )
    .option('--partner <name>', 'list only entries of this partner')
    .option('--before <id>', 'list entries before this ID')
    .option('--limit <number>', 'maximum number of entries', wholeNumber(1, 9_999), 50)
    .action(({ partner, before, limit, ...options }: LogOptions) =>
      withWiring(async (deps) => {
        const partnerId = partner === undefined ? null : (await partnerNamed(deps, partner)).id;
        const beforeId = before === undefined ? Number.MAX_SAFE_INTEGER : parseId('audit entry', before);
        const entries = (await deps.audit.list({ partnerId, beforeId, limit })).map(record);
        printList(outputFor(options), columns, entries, 'There are no entries.');
      }),
    );
}

function record(entry: AuditEntry) {
  return {
    audit_id: entry.id,
    at: entry.at,
    event: entry.event,
    actor: entry.actor,
    database_user: entry.databaseUser,
    partner_id: entry.partnerId,
    key_id: entry.keyId,
    subject_id: entry.subjectId,
    operation: entry.operation,
    code: entry.code,
    request_id: entry.requestId,
    calls: entry.calls,
    detail: entry.detail,
  };
}
