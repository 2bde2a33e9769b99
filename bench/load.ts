import type { AudienceClient, AudienceDetails } from '../test/acceptance/audience-client.ts';
import { waitUntil } from '../test/support/wait-until.ts';
import { secondsOf } from './bench.ts';

/** The counts that a load must produce for its time to be valid. */
export type Expected = { readonly unique: number; readonly matched?: number };

const timeoutSeconds = 3600;

/** Measures the time from the creation of an audience until its status is 2. */
export async function secondsToLoad(audiences: AudienceClient, path: string, expected: Expected): Promise<number> {
  return secondsOf(async () => {
    const { audienceId } = await audiences.create(path, path);
    await loaded(audiences, audienceId, expected);
  });
}

export async function secondsToAppend(
  audiences: AudienceClient,
  audienceId: number,
  path: string,
  expected: Expected,
): Promise<number> {
  return secondsOf(async () => {
    await audiences.append(audienceId, path);
    await loaded(audiences, audienceId, expected);
  });
}

/**
 * Polls the list five times a second and reads the full record at the end. Each read of a record with 1,000 files costs
 * the API, PostgreSQL, and this process tens of milliseconds, which would slow down the load.
 */
export async function loaded(
  audiences: AudienceClient,
  audienceId: number,
  { unique, matched }: Expected,
): Promise<AudienceDetails> {
  const isSettled = async (): Promise<boolean> => {
    const listed = (await audiences.list('?limit=1')).find(({ audience_id }) => audience_id === audienceId);
    return (listed ?? (await audiences.get(audienceId))).status >= 2;
  };
  await waitUntil(`audience ${audienceId} is settled`, isSettled, timeoutSeconds, 200);
  const details = await audiences.get(audienceId);
  const { status, unique_devices, matched_devices } = details;
  const isRight = status === 2 && unique_devices === unique && matched_devices === (matched ?? matched_devices);
  if (!isRight) throw new Error(`status ${status}, ${unique_devices} unique devices, ${matched_devices} matched`);
  return details;
}
