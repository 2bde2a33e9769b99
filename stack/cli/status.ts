import { cephPids, isCephHealthy } from '../ceph/lifecycle.ts';
import { serverName } from '../clickhouse/config.ts';
import { isServerHealthy, serverNumbers, serverPid, serverPorts } from '../clickhouse/lifecycle.ts';
import { stackDirectory } from '../paths.ts';
import { isPostgresHealthy, postgresPids } from '../postgres/lifecycle.ts';
import { printError, messageOf, printLine, printServer } from '../output.ts';
import { readState, type State } from '../state.ts';
import { isZookeeperHealthy, zookeeperMembers, zookeeperPid, zookeeperPort } from '../zookeeper/lifecycle.ts';

function report(name: string, port: number, pids: readonly number[], healthy: boolean): boolean {
  const processes = pids.length === 0 ? 'not running' : `pid ${pids.join(' ')}`;
  printServer(name, `127.0.0.1:${String(port)}`, `${healthy ? 'healthy' : 'UNHEALTHY'}, ${processes}`);
  return healthy;
}

async function status(state: State): Promise<boolean> {
  const { ports } = state;
  const reports = [
    report('PostgreSQL 15', ports.postgres, postgresPids(), await isPostgresHealthy(state)),
    ...(await Promise.all(
      zookeeperMembers(state).map(async (member) =>
        report(
          `ZooKeeper ${String(member)}`,
          zookeeperPort(state, member),
          [zookeeperPid(member) ?? []].flat(),
          await isZookeeperHealthy(state, member),
        ),
      ),
    )),
    ...(await Promise.all(
      serverNumbers(state).map(async (server) =>
        report(
          serverName(state, server),
          serverPorts(state, server).http,
          [serverPid(server) ?? []].flat(),
          await isServerHealthy(state, server),
        ),
      ),
    )),
    report('S3 (Ceph gateway)', ports.s3, cephPids(), await isCephHealthy(state)),
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
