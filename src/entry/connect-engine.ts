import type { Logger } from 'pino';
import { type Engine, type EngineOptions, closeEngine, connectEngine } from '../adapters/clickhouse/connect.ts';
import { clickhouseLoadStage } from '../adapters/clickhouse/load-stage.ts';
import { clickhouseTopology } from '../adapters/clickhouse/topology.ts';
import { migrationFolder } from '../adapters/migration-files.ts';
import { connectPostgres } from '../adapters/postgres/db/connect.ts';
import type { Database } from '../adapters/postgres/db/tables.ts';
import { postgresTopologyStore } from '../adapters/postgres/topology-store.ts';
import type { LoadStage } from '../ports/load-stage.ts';
import { type RequireTopology, type TopologyDeps, topologyGuard } from '../usecases/admin/topology.ts';
import type { Config } from './config.ts';
import { engineTlsOf } from './store-tls-settings.ts';
import type { Connections } from './wire-shared.ts';

export type ConnectedEngine = {
  readonly engine: Engine;
  readonly stage: LoadStage;
  readonly requireTopology: RequireTopology;
  readonly closeEngine: () => Promise<void>;
};

export function engineOptions(config: Config, name: string): EngineOptions {
  return {
    shards: config.INLET_CLICKHOUSE_URLS,
    database: config.INLET_CLICKHOUSE_DATABASE,
    cluster: config.INLET_CLICKHOUSE_CLUSTER,
    replicasRequired: config.INLET_REPLICAS_REQUIRED,
    replicaLostAfterMs: config.INLET_REPLICA_LOST_SECONDS * 1000,
    tls: engineTlsOf(config),
    name,
  };
}

/** Connects to every ClickHouse server, with instrumentation and failpoints around each client. */
export function connectShards({ config, name, log, db, observability, failpoints }: Connections): ConnectedEngine {
  const engine = connectEngine(engineOptions(config, name), (server, shardIndex) =>
    failpoints.wrapShard(observability.instrumentShard(server, shardIndex)),
  );
  const stage = failpoints.wrapPort('stage', clickhouseLoadStage(engine, config.INLET_ROOM_BYTES));
  const folder = migrationFolder('clickhouse');
  const requireTopology = topologyGuard(
    {
      topology: postgresTopologyStore(db),
      engineTopology: observability.instrumentPort('clickhouse', 'topology', clickhouseTopology(engine, folder)),
      log,
      recordTopology: observability.recordTopology,
    },
    config.INLET_TOPOLOGY_SECONDS * 1000,
  );
  return {
    engine,
    requireTopology,
    stage: observability.instrumentPort('clickhouse', 'stage', stage),
    closeEngine: () => closeEngine(engine),
  };
}

/** Connects an operator command to PostgreSQL and to the configured shards. */
export async function withTopology<T>(
  config: Config,
  log: Logger,
  run: (deps: TopologyDeps & { readonly db: Database; readonly engine: Engine }) => Promise<T>,
): Promise<T> {
  const db = connectPostgres({ url: config.INLET_POSTGRES_URL, name: 'inlet-topology', maxConnections: 4, log });
  const engine = connectEngine(engineOptions(config, 'inlet-topology'));
  try {
    const engineTopology = clickhouseTopology(engine, migrationFolder('clickhouse'));
    return await run({ topology: postgresTopologyStore(db), engineTopology, db, engine });
  } finally {
    await closeEngine(engine);
    await db.destroy();
  }
}
