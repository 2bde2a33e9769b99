import { type TestStores, withDatabase } from '../support/stores.ts';
import type { FaultPartner, Expected } from './fault-partner.ts';
import { submitOneOfEach } from './submit-one-of-each.ts';

// A partner that copies its record after each request, so that the record can be compared with a restored backup.

type Moment = Pick<Expected, 'submitted' | 'pairs' | 'audiences'> & { readonly clears: number };

export type RecordingPartner = FaultPartner & {
  /** From now on, every request or wait throws `Stopped`. */
  readonly stopSubmitting: () => void;
  /** Restores the record to the moment of the backup. Returns the later requests. */
  readonly rewind: (stores: TestStores) => Promise<Expected['submitted']>;
};

class Stopped extends Error {}

/** Submits every kind of request in a loop. */
export async function submitUntilStopped(partner: RecordingPartner): Promise<void> {
  try {
    for (;;) await submitOneOfEach(partner);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
}

export function withHistory(partner: FaultPartner): RecordingPartner {
  const { submitted, pairs, audiences } = partner;
  let clears = 0;
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined); // Each request and wait handles the rejection.
  const history: Moment[] = [];
  const remember = (): void => void history.push({ ...structuredClone({ submitted, pairs, audiences }), clears });
  remember();
  const request = async <T>(send: () => Promise<T>): Promise<T> => {
    // Checked only before the request, because a request that was sent is always recorded.
    await Promise.race([stopped.promise, Promise.resolve()]);
    const answer = await send();
    remember();
    return answer;
  };
  const unlessStopped = (wait: Promise<void>): Promise<void> => Promise.race([wait, stopped.promise]);
  return {
    ...partner,
    importFiles: (kind, files) => request(() => partner.importFiles(kind, files)),
    importFromOwnBucket: (files) => request(() => partner.importFromOwnBucket(files)),
    importInvalidFile: () => request(() => partner.importInvalidFile()),
    importNothing: () => request(() => partner.importNothing()),
    deleteAttributes: (attributes) => request(() => partner.deleteAttributes(attributes)),
    createAudience: (files) => request(() => partner.createAudience(files)),
    append: (audienceId, files) => request(() => partner.append(audienceId, files)),
    clear: (audienceId) =>
      request(async () => {
        await partner.clear(audienceId);
        clears += 1;
      }),
    waitForImport: (id) => unlessStopped(partner.waitForImport(id)),
    waitForAudience: (id) => unlessStopped(partner.waitForAudience(id)),
    stopSubmitting: () => stopped.reject(new Stopped()),
    rewind: async (stores) => {
      const { jobs, generations } = await countsIn(stores, partner.id);
      // Requests are sequential, so the stores match the state of the record after one particular request.
      const then = history.find((moment) => moment.submitted.length === jobs && moment.clears === generations);
      if (!then) throw new Error(`partner ${partner.id} never had ${jobs} jobs and ${generations} clears`);
      const lost = submitted.splice(0).slice(jobs);
      submitted.push(...then.submitted);
      pairs.clear();
      for (const pair of then.pairs) pairs.add(pair);
      audiences.clear();
      for (const [id, audience] of then.audiences) audiences.set(id, audience);
      return lost;
    },
  };
}

async function countsIn(stores: TestStores, partnerId: number): Promise<{ jobs: number; generations: number }> {
  return withDatabase(stores, async (client) => {
    const { rows } = await client.query<{ jobs: number; generations: number }>(
      `SELECT (SELECT count(*)::int FROM job WHERE partner_id = $1) AS jobs,
        (SELECT coalesce(sum(generation), 0)::int FROM audience WHERE partner_id = $1) AS generations`,
      [partnerId],
    );
    return rows[0] ?? { jobs: 0, generations: 0 };
  });
}
