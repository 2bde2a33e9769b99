import { wholeNumber } from '@inlet/cli';
import type { Command } from 'commander';
import type { AuditEntry } from '../../domain/audit.ts';
import { partnerNamed } from '../../usecases/admin/manage-partners.ts';
import { parseId, print, printJson } from './output.ts';
import { withWiring } from './with-wiring.ts';

type Options = { readonly partner?: string; readonly before?: string; readonly limit: number };

export function addAuditCommands(program: Command): void {
  program
    .command('audit')
    .description(
      'compare the records of finished jobs and audiences with the stored rows; exit with code 1 if they differ',
    )
    .option('--partner <name>', 'audit only this partner')
    .option('--since <duration>', 'audit only work that finished in this period, for example 24h')
    .option('--replicas', 'compare the rows of all replicas of each shard instead')
    .action(async ({ partner, since, replicas }: { partner?: string; since?: string; replicas?: true }) => {
      const { auditStoredRows, compareReplicas } = await import('../row-audit.ts');
      if (replicas === true) {
        const differences = await compareReplicas();
        for (const difference of differences) print(difference);
        print(`${differences.length} differences between replicas`);
        if (differences.length > 0) process.exitCode = 1;
        return;
      }
      const { audited, differing } = await auditStoredRows({ partner: partner ?? null, since: since ?? null }, print);
      print(`${audited} jobs and audiences audited, ${differing} with differences`);
      if (differing > 0) process.exitCode = 1;
    });
  program
    .command('audit-log')
    .description(
      'list denied calls, changes to partners, keys, and attributes, and jobs that operators canceled or retried, newest first',
    )
    .option('--partner <name>', 'list only entries of this partner')
    .option('--before <id>', 'list entries before this ID')
    .option('--limit <number>', 'maximum number of entries', wholeNumber(1, 9_999), 50)
    .action(({ partner, before, limit }: Options) =>
      withWiring(async (deps) => {
        const partnerId = partner === undefined ? null : (await partnerNamed(deps, partner)).id;
        const beforeId = before === undefined ? Number.MAX_SAFE_INTEGER : parseId('audit entry', before);
        printJson((await deps.audit.list({ partnerId, beforeId, limit })).map(record));
      }),
    );
}

function record(entry: AuditEntry): object {
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
