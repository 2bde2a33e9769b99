import type { ConfiguredCluster, ObservedServer, ShardRecord } from '../domain/topology.ts';

/** The topology that the data was loaded with, recorded in PostgreSQL. */
export interface TopologyStore {
  /** Ordered by number. Empty if nothing is recorded. */
  read(): Promise<readonly ShardRecord[]>;
  /** Replaces the record. */
  record(shards: readonly ShardRecord[]): Promise<void>;
  /** The last load ID that was assigned. */
  readLastLoadId(): Promise<number>;
}

/** The configured ClickHouse servers. */
export interface EngineTopology {
  readonly configured: ConfiguredCluster;
  /** One entry per configured server that is available, in order. Throws if all replicas of a shard are unavailable. */
  observe(): Promise<readonly ObservedServer[]>;
  /** One sentence for each table, view, or column of this release that is missing on a server. */
  findSchemaDifferences(): Promise<readonly string[]>;
  /** The highest load ID that the shards contain, or 0. */
  findHighestLoadId(): Promise<number>;
}
