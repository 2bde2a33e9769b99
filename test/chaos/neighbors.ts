import { PutObjectCommand } from '@aws-sdk/client-s3';
import { setTimeout as pause } from 'node:timers/promises';
import { type ImportLogRecord, importLogSchema } from '../../src/adapters/http/records/import-log.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { rows } from '../support/file-rows.ts';
import { type BarePartner, type Wired, newBarePartner } from '../support/wired.ts';
import { pickerOf } from './chaos-partner.ts';

// Partners that import one small file a minute and measure the time from the request to the end of the job.

const fileRows = 1_000;
const everyMs = 60_000;
/** An import that takes longer counts as failed. */
const maxSeconds = 600;

export type Sample = {
  /** When the request was sent. */
  readonly at: number;
  /** The time until the record shows a final status. */
  readonly ms: number;
  readonly failure: string | null;
};

export type Neighbors = {
  readonly ids: readonly number[];
  /** The samples so far, in the order in which the imports ended. */
  readonly samples: readonly Sample[];
  /** Sends imports until the given time, and returns when the last one has ended. */
  readonly importUntil: (end: number) => Promise<void>;
};

/** Each partner imports at its own offset within the minute. */
export async function newNeighbors(
  deps: Wired,
  { url, bucket, count, seed }: { url: string; bucket: string; count: number; seed: number },
): Promise<Neighbors> {
  const pick = pickerOf(seed);
  const samples: Sample[] = [];
  const partners: { readonly partner: BarePartner; readonly offsetMs: number }[] = [];
  for (let n = 0; n < count; n++) {
    const partner = await newBarePartner(deps);
    await deps.attributes.create(partner.id, { name: 'sport', foreignKeys: ['sport'] });
    const Body = rows(n * fileRows, (n + 1) * fileRows, 'sport');
    await deps.s3.send(new PutObjectCommand({ Bucket: bucket, Key: `${partner.prefix}small.csv`, Body }));
    partners.push({ partner, offsetMs: pick(everyMs) });
  }
  const importOnce = async ({ apiKey }: BarePartner): Promise<void> => {
    const at = Date.now();
    const failure = await importSmallFile(url, apiKey).catch(String);
    samples.push({ at, ms: Date.now() - at, failure });
  };
  return {
    ids: partners.map(({ partner }) => partner.id),
    samples,
    importUntil: async (end) => {
      const start = Date.now();
      const importEveryMinute = async (partner: BarePartner, offsetMs: number): Promise<void> => {
        const running: Promise<void>[] = [];
        for (let next = start + offsetMs; next < end; next += everyMs) {
          await pause(Math.max(0, next - Date.now()));
          running.push(importOnce(partner));
        }
        await Promise.all(running);
      };
      await Promise.all(partners.map(({ partner, offsetMs }) => importEveryMinute(partner, offsetMs)));
    },
  };
}

/** Returns the reason that the import did not end with status 2, or null if it did. */
async function importSmallFile(url: string, apiKey: string): Promise<string | null> {
  const api = apiClient(url, apiKey);
  const id = await api.queue({ file_path: 'small.csv', key_type: 1 });
  const end = Date.now() + maxSeconds * 1000;
  let record: ImportLogRecord | null = null;
  while ((record === null || record.status < 2) && Date.now() < end) {
    const answer = await api.request(`/v1/marketplace/import/${id}`, { headers: { prefer: 'wait=60' } });
    record = importLogSchema.parse(await answer.json());
  }
  if (record?.status === 2 && record.total_rows === String(fileRows)) return null;
  return `import ${id} has status ${record?.status} and ${record?.total_rows} rows: ${JSON.stringify(record?.errors)}`;
}
