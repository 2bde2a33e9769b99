import { setTimeout as pause } from 'node:timers/promises';
import type { TestCluster } from '../fault/test-cluster.ts';
import { sharedOwnBucket } from '../support/own-bucket.ts';
import { withDatabase } from '../support/stores.ts';
import { type ChaosPartner, newChaosPartner, pickerOf } from './chaos-partner.ts';

/** Enough open jobs to keep jobs of every kind in progress, but few enough to complete soon after the last request. */
const maxOpenJobs = (partners: number): number => Math.min(120, 2 * partners);
const concurrentSenders = 12;

export async function count(cluster: TestCluster, query: string): Promise<number> {
  return withDatabase(cluster.stores, async (client) =>
    Number((await client.query<{ count: string }>(query)).rows[0]?.count),
  );
}

/** Each partner has its own random sequence and uses any running API process. */
export async function newChaosPartners(cluster: TestCluster, seed: number, most: number): Promise<ChaosPartner[]> {
  const pickApi = pickerOf(seed + 3);
  const anApi = (): string => [...cluster.apis][pickApi(cluster.apis.size)]?.url ?? '';
  const bucket = cluster.stores.config.INLET_S3_BUCKET;
  const own = await sharedOwnBucket();
  const partners: ChaosPartner[] = [];
  for (let n = 0; n < most; n++)
    partners.push(await newChaosPartner(cluster.deps, { bucket, own, anApi, pick: pickerOf(seed * 1_000 + n) }));
  return partners;
}

/** Sends requests from all partners while the condition is true. Each partner sends one request at a time. */
export async function sendRequestsWhile(
  cluster: TestCluster,
  partners: readonly ChaosPartner[],
  seed: number,
  shouldContinue: () => boolean,
): Promise<void> {
  const pick = pickerOf(seed + 1);
  const busy = new Set<ChaosPartner>();
  let open = 0;
  const watch = async (): Promise<void> => {
    while (shouldContinue()) {
      open = await count(cluster, 'SELECT count(*) FROM job WHERE status < 2 AND NOT cancelled').catch(() =>
        maxOpenJobs(partners.length),
      );
      await pause(500);
    }
  };
  const sender = async (): Promise<void> => {
    while (shouldContinue()) {
      const partner = partners[pick(partners.length)];
      if (!partner || busy.has(partner) || open >= maxOpenJobs(partners.length)) {
        await pause(200);
        continue;
      }
      busy.add(partner);
      await partner.sendRandomRequest().finally(() => busy.delete(partner));
    }
  };
  await Promise.all([watch(), ...Array.from({ length: concurrentSenders }, sender)]);
}
