/** A shard of the cluster. The number, order, and weights of the shards determine where a device is stored. */
export type ShardRecord = {
  readonly number: number;
  /** A UUID that is stored in the shard's own database. */
  readonly identity: string;
  readonly weight: number;
};

/** What one configured ClickHouse server reports about itself and the cluster. */
export type ObservedServer = {
  /** The positions of its URL in the configuration, starting at 1. */
  readonly shard: number;
  readonly replica: number;
  /** The names of the servers that answered. There are several if the URL belongs to a load balancer. */
  readonly names: readonly string[];
  /** The identity of the shard. Null if the server's database has none. */
  readonly identity: string | null;
  /** Where the server registers its tables in ClickHouse Keeper. Null if any table is not replicated. */
  readonly keeperPath: string | null;
  /** The shards of the configured cluster, as seen from this server. */
  readonly cluster: readonly {
    readonly number: number;
    readonly identity: string | null;
    readonly weight: number;
    readonly replicas: number;
    /** Whether a Distributed table writes to only one replica, from which the other replicas copy the rows. */
    readonly isInternallyReplicated: boolean;
  }[];
  /** The cluster names in the definitions of the server's Distributed tables. */
  readonly clustersOfTables: readonly string[];
  /** Why the cluster could not be read, although the server responds. */
  readonly problem: string | null;
};

/**
 * Compares the recorded topology with the configured servers and with the cluster definition on each server. Returns
 * one sentence per difference. `cityHash64(device)` and the weights determine the shard on which a device is stored, so
 * any difference can cause rows to be lost or a device to be stored twice. Unavailable replicas are not compared.
 */
export function findTopologyDifferences(
  recorded: readonly ShardRecord[],
  servers: readonly ObservedServer[],
  configured: ConfiguredCluster,
): string[] {
  if (recorded.length === 0) return ['No topology is recorded.'];
  const differences: string[] = [];
  const shards = configured.replicas.length;
  if (shards !== recorded.length) {
    differences.push(`INLET_CLICKHOUSE_URLS lists ${shards} shards, but ${recorded.length} are recorded.`);
  }
  for (const server of servers) differences.push(...differencesOfServer(recorded, server, configured));
  return [...differences, ...findMixedUpServers(servers)];
}

/** The cluster as the configuration describes it. */
export type ConfiguredCluster = {
  readonly name: string;
  /** The number of replicas of each shard. */
  readonly replicas: readonly number[];
};

/** Finds servers that are listed twice and replicas of a shard that do not replicate each other. */
function findMixedUpServers(servers: readonly ObservedServer[]): string[] {
  const byShard = Map.groupBy(servers, ({ shard }) => shard);
  return [...byShard].flatMap(([shard, replicas]) => {
    if (replicas.length === 1) return [];
    const names = replicas.map((server) => String(server.names));
    const paths = new Set(replicas.map(({ keeperPath }) => keeperPath));
    return [
      ...(new Set(names).size < names.length ? [`Two URLs of shard ${shard} lead to the same server.`] : []),
      ...(paths.size > 1 || paths.has(null) ? [`The servers of shard ${shard} are not replicas of each other.`] : []),
    ];
  });
}

function urlOf({ shard, replica }: Pick<ObservedServer, 'shard' | 'replica'>): string {
  return `URL ${shard}${replica === 1 ? '' : `, replica ${replica},`} in INLET_CLICKHOUSE_URLS`;
}

/**
 * Load IDs only increase. If ClickHouse contains a load that PostgreSQL has not assigned yet, PostgreSQL was restored
 * from an older state or belongs to another installation. PostgreSQL would then assign IDs and versions that ClickHouse
 * already contains.
 */
export function findLoadIdDifferences(lastAssigned: number, highestStored: number): string[] {
  if (highestStored <= lastAssigned) return [];
  return [
    `PostgreSQL has assigned load IDs up to ${lastAssigned}, but ClickHouse contains load ${highestStored}. Was PostgreSQL restored from an older state? Run \`inlet repair ids\`.`,
  ];
}

function differencesOfServer(
  recorded: readonly ShardRecord[],
  server: ObservedServer,
  configured: ConfiguredCluster,
): string[] {
  const name = urlOf(server);
  const { shard: number } = server;
  const cluster = configured.name;
  if (server.names.length > 1) {
    return [
      `${name} leads to different servers (${server.names.join(', ')}). List each replica instead of a load balancer.`,
    ];
  }
  if (server.identity === null) return [`${name} leads to a database without a shard identity.`];
  const differences: string[] = [];
  const expected = recorded.find((shard) => shard.number === number);
  if (expected && expected.identity !== server.identity) {
    const actual = recorded.find(({ identity }) => identity === server.identity);
    differences.push(`${name} leads to ${actual ? `shard ${actual.number}` : 'an unknown shard'}.`);
  }
  if (server.problem !== null) return [...differences, `Cluster "${cluster}" on shard ${number}: ${server.problem}`];
  const foreign = server.clustersOfTables.filter((one) => one !== cluster);
  if (foreign.length > 0) {
    differences.push(`The tables of shard ${number} use cluster "${foreign.join('", "')}", not "${cluster}".`);
  }
  const expectedReplicas = server.cluster.find((shard) => shard.number === number)?.replicas;
  const listed = configured.replicas[number - 1];
  if (expectedReplicas !== undefined && expectedReplicas !== listed) {
    differences.push(
      `On shard ${number}, cluster "${cluster}" has ${expectedReplicas} replicas of this shard, but INLET_CLICKHOUSE_URLS lists ${listed ?? 0}.`,
    );
  }
  if (server.cluster.some(({ replicas, isInternallyReplicated }) => replicas > 1 && !isInternallyReplicated)) {
    differences.push(
      `On shard ${number}, cluster "${cluster}" lacks <internal_replication>true</internal_replication>.`,
    );
  }
  const describe = (shards: readonly { number: number; identity: string | null; weight: number }[]): string =>
    shards.map((shard) => `${shard.number}: ${shard.identity ?? 'none'} (weight ${shard.weight})`).join(', ');
  if (describe(server.cluster) !== describe(recorded)) {
    differences.push(
      `On shard ${number}, cluster "${cluster}" is [${describe(server.cluster)}], but [${describe(recorded)}] is recorded.`,
    );
  }
  return differences;
}
