import { clickhouseAudienceWarehouse } from '../adapters/clickhouse/audience-warehouse.ts';
import type { Engine } from '../adapters/clickhouse/connect.ts';
import { clickhouseRepairEngine, findHighestSeqs } from '../adapters/clickhouse/repair.ts';
import { clickhouseAuditEngine } from '../adapters/clickhouse/row-audit.ts';
import { underMigrationLock } from '../adapters/postgres/db/migration-lock.ts';
import type { Database } from '../adapters/postgres/db/tables.ts';
import { moveIdsForward, postgresRepairRecords, recordCounts } from '../adapters/postgres/repair.ts';
import { postgresAuditRecords } from '../adapters/postgres/row-audit.ts';
import { toSeconds } from '../domain/duration.ts';
import { pages } from '../usecases/admin/audit-rows.ts';
import { partnerNamed } from '../usecases/admin/manage-partners.ts';
import { findSuspects, planRepair, repair } from '../usecases/admin/repair-rows.ts';
import { checkLoadIds, requireRecordedTopology } from '../usecases/admin/topology.ts';
import { readConfig } from './config.ts';
import { connectShards, withTopology } from './connect-engine.ts';
import { createLogger } from './logging.ts';
import { connectServers } from './wire-shared.ts';
import { workerDeps } from './wire-worker.ts';

export type RowRepair = { readonly suspects: number; readonly incomplete: number };

/** Finds finished work whose rows are missing. If confirmed, restores the rows from the source files. */
export async function repairStoredRows(
  { partner, since }: { readonly partner: string | null; readonly since: string | null },
  { isConfirmed }: { readonly isConfirmed: boolean },
  report: (line: string) => void,
): Promise<RowRepair> {
  const config = { ...readConfig(), INLET_METRICS_PORT: undefined, INLET_OTLP_URL: undefined };
  const log = createLogger({ name: 'inlet-repair', level: 'error' });
  await withTopology(config, log, requireRecordedTopology);
  const connections = await connectServers(config, { name: 'inlet-repair', boss: 'send' }, log);
  const connected = connectShards(connections);
  try {
    const deps = {
      ...workerDeps(connections, connected),
      log,
      auditRecords: postgresAuditRecords(connections.db),
      auditEngine: clickhouseAuditEngine(connected.engine),
      repairRecords: postgresRepairRecords(connections.db),
      repairEngine: clickhouseRepairEngine(connected.engine),
    };
    const partnerId = partner === null ? null : (await partnerNamed(deps, partner)).id;
    const scope = { partnerId, since: new Date(since === null ? 0 : Date.now() - toSeconds(since) * 1000) };
    let [suspects, incomplete] = [0, 0];
    for await (const { subject, reason, of } of findSuspects(deps, scope)) {
      suspects += 1;
      report(`${subject}: ${reason}`);
      if (!isConfirmed) {
        for (const line of await planRepair(deps, of)) report(`  ${line}`);
        incomplete += 1;
        continue;
      }
      const { lines, isComplete } = await repair(deps, of, new AbortController().signal);
      for (const line of lines) report(`  ${line}`);
      if (!isComplete) incomplete += 1;
    }
    return { suspects, incomplete };
  } finally {
    await connections.close();
    await connected.closeEngine();
  }
}

/** Moves all IDs past those that ClickHouse contains, so that PostgreSQL assigns none of them again. */
export async function repairIds({ isConfirmed }: { readonly isConfirmed: boolean }): Promise<string> {
  const config = readConfig();
  const log = createLogger({ name: 'inlet-repair', level: 'silent' });
  return underMigrationLock(config.INLET_POSTGRES_URL, () =>
    withTopology(config, log, async ({ db, engine, ...deps }) => {
      await requireRecordedTopology(deps);
      const differences = await checkLoadIds(deps);
      if (differences.length === 0)
        return 'PostgreSQL has assigned every load ID that ClickHouse contains. Nothing to do.';
      const effect =
        'All IDs move forward by ten million, and the lanes of partners whose rows ClickHouse contains move past those rows. Audiences whose devices differ from their record are counted again. Rows of jobs that PostgreSQL does not know stay in ClickHouse. `inlet audit` lists them.';
      if (!isConfirmed) return [...differences, effect, 'Nothing was changed. Run the command with --yes.'].join('\n');
      const moved = await moveIdsForward(db, await findHighestSeqs(engine));
      const recounted = await recountAudiences(db, engine);
      return `The IDs and ${moved} lanes have been moved. ${recounted} audiences have been counted again. Loads continue within INLET_TOPOLOGY_SECONDS. Run \`inlet audit\` and \`inlet repair\` next.`;
    }),
  );
}

/**
 * Recounts audiences whose recorded count differs from the number of stored devices. A later append adds only the
 * devices that are new in ClickHouse to the recorded count, so the recorded count must be correct.
 */
async function recountAudiences(db: Database, engine: Engine): Promise<number> {
  const [records, stored, warehouse] = [
    postgresAuditRecords(db),
    clickhouseAuditEngine(engine),
    clickhouseAudienceWarehouse(engine),
  ];
  const all = { partnerId: null, since: new Date(0) };
  let recounted = 0;
  for await (const audience of pages((page) => records.listAudiences(all, page), 'audienceId')) {
    const devices = await stored.countDevicesOfAudience(audience);
    if (devices === audience.uniqueDevices) continue;
    await recordCounts(db, audience, await warehouse.countDevices({ ...audience, id: 0 }, devices));
    recounted += 1;
  }
  return recounted;
}
