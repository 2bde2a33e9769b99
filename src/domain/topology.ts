/** A shard of the cluster. Number, order, and weights decide on which shard a device is stored. */
export type ShardRecord = {
  readonly number: number;
  /** A UUID that is stored in the shard's own database. */
  readonly identity: string;
  readonly weight: number;
};

/** What one configured ClickHouse server reports about itself and the cluster. */
export type ObservedServer = {
  /** Null if its database has no identity. */
  readonly identity: string | null;
  /** The shards of the configured cluster as this server reaches them. */
  readonly cluster: readonly { readonly number: number; readonly identity: string | null; readonly weight: number }[];
  /** The cluster names in the definitions of its Distributed tables. */
  readonly clustersOfTables: readonly string[];
  /** Why the cluster could not be read, although the server responds. */
  readonly problem: string | null;
};

/**
 * Compares the recorded topology with the configured servers and with the cluster definition on each server. Returns one
 * sentence per difference. A device is stored on the shard that `cityHash64(device)` selects among the weights, so every
 * difference can lose rows or store a device twice.
 */
export function findTopologyDifferences(
  recorded: readonly ShardRecord[],
  servers: readonly ObservedServer[],
  cluster: string,
): string[] {
  if (recorded.length === 0) return ['No topology is recorded.'];
  const differences: string[] = [];
  if (servers.length !== recorded.length) {
    differences.push(`INLET_CLICKHOUSE_URLS lists ${servers.length} shards, but ${recorded.length} are recorded.`);
  }
  for (const [index, server] of servers.entries()) {
    differences.push(...differencesOfServer(recorded, server, { number: index + 1, cluster }));
  }
  return differences;
}

/**
 * Load IDs only increase. If ClickHouse contains a load that PostgreSQL has not assigned yet, PostgreSQL was restored from an
 * older state, or it belongs to another installation. It would assign IDs and versions again that ClickHouse already contains.
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
  { number, cluster }: { readonly number: number; readonly cluster: string },
): string[] {
  const name = `URL ${number} in INLET_CLICKHOUSE_URLS`;
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
  const describe = (shards: ObservedServer['cluster']): string =>
    shards.map((shard) => `${shard.number}: ${shard.identity ?? 'none'} (weight ${shard.weight})`).join(', ');
  if (describe(server.cluster) !== describe(recorded)) {
    differences.push(
      `On shard ${number}, cluster "${cluster}" is [${describe(server.cluster)}], but [${describe(recorded)}] is recorded.`,
    );
  }
  return differences;
}
