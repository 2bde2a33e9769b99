import { type TestStores, withDatabase } from '../support/stores.ts';
import type { FaultPartner, Expected } from './fault-partner.ts';
import { submitOneOfEach } from './submit-one-of-each.ts';

// A partner that remembers its record after each of its requests, so that it can be compared with a store of the past.

type Moment = Pick<Expected, 'asked' | 'pairs' | 'audiences'> & { readonly clears: number };

export type RecordingPartner = FaultPartner & {
  /** Nothing is asked for or waited for any more: `Silent` is thrown instead of doing it. */
  readonly silence: () => void;
  /** Goes back to the record of the moment that the stores hold. Gives what was asked for after it. */
  readonly rewind: (stores: TestStores) => Promise<Expected['asked']>;
};

class Silent extends Error {}

/** Everything that a partner can ask for, over and over. */
export async function submitUntilSilenced(partner: RecordingPartner): Promise<void> {
  try {
    for (;;) await submitOneOfEach(partner);
  } catch (error) {
    if (!(error instanceof Silent)) throw error;
  }
}

export function withHistory(partner: FaultPartner): RecordingPartner {
  const { asked, pairs, audiences } = partner;
  let clears = 0;
  const silence = Promise.withResolvers<never>();
  silence.promise.catch(() => undefined); // whoever asks or waits is told
  const history: Moment[] = [];
  const remember = (): void => void history.push({ ...structuredClone({ asked, pairs, audiences }), clears });
  remember();
  const request = async <T>(send: () => Promise<T>): Promise<T> => {
    // Nobody stops between a request and its note.
    await Promise.race([silence.promise, Promise.resolve()]);
    const answer = await send();
    remember();
    return answer;
  };
  const unlessSilent = (wait: Promise<void>): Promise<void> => Promise.race([wait, silence.promise]);
  return {
    ...partner,
    importFiles: (kind, files) => request(() => partner.importFiles(kind, files)),
    importFromOwnBucket: (files) => request(() => partner.importFromOwnBucket(files)),
    importNonsense: () => request(() => partner.importNonsense()),
    importNothing: () => request(() => partner.importNothing()),
    deleteAttributes: (attributes) => request(() => partner.deleteAttributes(attributes)),
    createAudience: (files) => request(() => partner.createAudience(files)),
    append: (audienceId, files) => request(() => partner.append(audienceId, files)),
    clear: (audienceId) =>
      request(async () => {
        await partner.clear(audienceId);
        clears += 1;
      }),
    waitForImport: (id) => unlessSilent(partner.waitForImport(id)),
    waitForAudience: (id) => unlessSilent(partner.waitForAudience(id)),
    silence: () => silence.reject(new Silent()),
    rewind: async (stores) => {
      const { jobs, generations } = await countsIn(stores, partner.id);
      // One request after the other: what the store holds is the record after one of them.
      const then = history.find((moment) => moment.asked.length === jobs && moment.clears === generations);
      if (!then) throw new Error(`partner ${partner.id} never had ${jobs} jobs and ${generations} clears`);
      const lost = asked.splice(0).slice(jobs);
      asked.push(...then.asked);
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
