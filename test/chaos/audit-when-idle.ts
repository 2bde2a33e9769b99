import { setTimeout as pause } from 'node:timers/promises';
import { audit } from '../fault/auditor.ts';
import type { TestCluster } from '../fault/test-cluster.ts';
import { withDatabase } from '../support/stores.ts';
import type { ChaosPartner } from './chaos-partner.ts';
import { expectedOf } from './expected.ts';
import { say } from './print-line.ts';
import { count } from './send-requests.ts';

/** How long it may take until all is done when nothing is wrong any more. */
const quietSeconds = 900;

/** What is not as the partners' records have it: when all is done, or after as long as that may take. */
export async function auditWhenIdle(cluster: TestCluster, partners: readonly ChaosPartner[]): Promise<string[]> {
  const end = Date.now() + quietSeconds * 1000;
  for (;;) {
    const open = await count(cluster, `SELECT count(*) FROM pgboss.job WHERE state < 'completed'`);
    const wrong = open > 0 ? [`${open} tokens are left`] : await look(cluster, partners);
    if (wrong.length === 0 || Date.now() > end) return [...wrong, ...partners.flatMap((partner) => partner.wrong)];
    say(`not quiet yet: ${wrong.length} things, first: ${wrong[0]}`);
    // As if minutes had passed: what waits for a time of its own is due.
    await withDatabase(cluster.stores, async (client) => {
      await client.query('UPDATE partner SET purge_after = now()');
      await client.query(`UPDATE sweep SET ran_at = now() - interval '1 hour' WHERE name = 'drop orphaned stages'`);
    });
    await pause(5_000);
  }
}

async function look(cluster: TestCluster, partners: readonly ChaosPartner[]): Promise<string[]> {
  const resolved = await Promise.all(partners.map(({ record }) => expectedOf(cluster.stores, record)));
  const expected = resolved.map((one) => one.expected);
  return [
    ...resolved.flatMap(({ wrong }) => wrong),
    ...(await audit(cluster.stores, expected)),
    ...cluster.unexpectedExits(),
  ];
}
