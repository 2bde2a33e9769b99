import { findReplicaDifferences } from '../adapters/clickhouse/replica-audit.ts';
import { clickhouseAuditEngine } from '../adapters/clickhouse/row-audit.ts';
import { clickhouseWarehouse } from '../adapters/clickhouse/warehouse.ts';
import { postgresPartnerStore } from '../adapters/postgres/partner-store.ts';
import { postgresAuditRecords } from '../adapters/postgres/row-audit.ts';
import { toSeconds } from '../domain/duration.ts';
import { auditRows } from '../usecases/admin/audit-rows.ts';
import { partnerNamed } from '../usecases/admin/manage-partners.ts';
import { requireRecordedTopology } from '../usecases/admin/topology.ts';
import { type Config, readConfig } from './config.ts';
import { withTopology } from './connect-engine.ts';
import { createLogger } from './logging.ts';

/** Returns one sentence per difference between the replicas of a shard. */
export async function compareReplicas(config: Config = readConfig()): Promise<string[]> {
  const log = createLogger({ name: 'inlet-audit', level: 'silent' });
  return withTopology(config, log, async ({ engine, ...topology }) => {
    await requireRecordedTopology(topology);
    return findReplicaDifferences(engine);
  });
}

export type RowAudit = { readonly audited: number; readonly differing: number };

/** Audits the rows of finished work. Reports each difference as soon as it is found. */
export async function auditStoredRows(
  { partner, since }: { readonly partner: string | null; readonly since: string | null },
  report: (line: string) => void,
  config: Config = readConfig(),
): Promise<RowAudit> {
  const log = createLogger({ name: 'inlet-audit', level: 'silent' });
  return withTopology(config, log, async ({ db, engine, ...topology }) => {
    await requireRecordedTopology(topology);
    const partnerId =
      partner === null ? null : (await partnerNamed({ partners: postgresPartnerStore(db) }, partner)).id;
    const deps = {
      auditRecords: postgresAuditRecords(db),
      auditEngine: clickhouseAuditEngine(engine),
      warehouse: clickhouseWarehouse(engine),
    };
    const scope = { partnerId, since: new Date(since === null ? 0 : Date.now() - toSeconds(since) * 1000) };
    let [audited, differing] = [0, 0];
    for await (const { subject, differences } of auditRows(deps, scope)) {
      audited += 1;
      if (differences.length > 0) differing += 1;
      for (const difference of differences) report(`${subject}: ${difference}`);
    }
    return { audited, differing };
  });
}
