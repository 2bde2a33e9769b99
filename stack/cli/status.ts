import { cephPids, isCephHealthy } from '../ceph/lifecycle.ts';
import { isShardHealthy, shardNumbers, shardPid, shardPorts } from '../clickhouse/lifecycle.ts';
import { stackDirectory } from '../paths.ts';
import { isPostgresHealthy, postgresPids } from '../postgres/lifecycle.ts';
import { printError, messageOf, printLine, printServer } from '../output.ts';
import { readState, type State } from '../state.ts';

function report(name: string, port: number, pids: readonly number[], healthy: boolean): boolean {
  const processes = pids.length === 0 ? 'not running' : `pid ${pids.join(' ')}`;
  printServer(name, `127.0.0.1:${String(port)}`, `${healthy ? 'healthy' : 'UNHEALTHY'}, ${processes}`);
  return healthy;
}

async function status(state: State): Promise<boolean> {
  const { ports } = state;
  const shards = shardNumbers(state);
  const [postgres, ceph, ...clickhouse] = await Promise.all([
    isPostgresHealthy(state),
    isCephHealthy(state),
    ...shards.map((shard) => isShardHealthy(state, shard)),
  ]);
  const reports = [
    report('PostgreSQL 15', ports.postgres, postgresPids(), postgres),
    ...shards.map((shard, index) => {
      const { http } = shardPorts(state, shard);
      return report(
        `ClickHouse shard ${String(shard)}`,
        http,
        [shardPid(shard) ?? []].flat(),
        clickhouse[index] ?? false,
      );
    }),
    report('S3 (Ceph gateway)', ports.s3, cephPids(), ceph),
  ];
  return reports.every(Boolean);
}

try {
  const state = readState();
  if (state === undefined) printLine(`There is no stack in ${stackDirectory}. Run "npm run stack:up".`);
  process.exitCode = state !== undefined && (await status(state)) ? 0 : 1;
} catch (error) {
  printError(messageOf(error));
  process.exitCode = 1;
}
