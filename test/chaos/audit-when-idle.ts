import { setTimeout as pause } from 'node:timers/promises';
import { audit } from '../fault/auditor.ts';
import type { TestCluster } from '../fault/test-cluster.ts';
import { runInlet } from '../support/run-inlet.ts';
import { withDatabase } from '../support/stores.ts';
import type { ChaosPartner } from './chaos-partner.ts';
import { expectedOf } from './expected.ts';
import { printLine } from './print-line.ts';
import { count } from './send-requests.ts';

/** The time limit for finishing all work after the last fault. */
const maxIdleSeconds = 900;

/** Waits until all work is done or the time limit is reached. Returns the differences from the partners' records. */
export async function auditWhenIdle(cluster: TestCluster, partners: readonly ChaosPartner[]): Promise<string[]> {
  const end = Date.now() + maxIdleSeconds * 1000;
  for (;;) {
    const open = await count(cluster, `SELECT count(*) FROM pgboss.job WHERE state < 'completed'`);
    const unfolded = await count(cluster, 'SELECT count(*) FROM index_change');
    const wrong =
      open + unfolded > 0
        ? [`${open} leftover tokens, ${unfolded} changes that are not in the device index`]
        : await findingsOf(cluster, partners);
    if (wrong.length === 0 || Date.now() > end) return [...wrong, ...partners.flatMap((partner) => partner.wrong)];
    printLine(`not idle yet: ${wrong.length} findings, first: ${wrong[0]}`);
    // Makes the next purge and the sweep for orphaned stages due.
    await withDatabase(cluster.stores, async (client) => {
      await client.query(`UPDATE sweep SET next_at = NULL WHERE name = 'purge generations'`);
      await client.query(`UPDATE sweep SET ran_at = now() - interval '1 hour' WHERE name = 'drop orphaned stages'`);
    });
    await pause(5_000);
  }
}

async function findingsOf(cluster: TestCluster, partners: readonly ChaosPartner[]): Promise<string[]> {
  const resolved = await Promise.all(partners.map(({ record }) => expectedOf(cluster.stores, record)));
  const expected = resolved.map((one) => one.expected);
  return [
    ...resolved.flatMap(({ wrong }) => wrong),
    ...(await audit(cluster.stores, expected)),
    ...cluster.unexpectedExits(),
    ...(await verifyIndex(cluster)),
  ];
}

/** Returns the differences between the device index and the rows. */
async function verifyIndex({ stores }: TestCluster): Promise<string[]> {
  const { code, out, err } = await runInlet(stores.environment, ['index', 'verify']);
  return code === 0 ? [] : `${out}${err}`.trim().split('\n');
}
