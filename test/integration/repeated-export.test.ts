import { afterAll, beforeAll, expect, it } from 'vitest';
import { importMode, keyType, pathType } from '../../src/domain/import-log.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

let stores: TestStores;
let deps: Wired;

beforeAll(async () => {
  stores = await createPostgresStores();
  deps = await wireUp(stores);
});
afterAll(async () => {
  await deps.close();
  await stores.drop();
});

it('reads the failed files of a repeated export again, even if its first worker is killed immediately', async () => {
  const partner = await newBarePartner(deps);
  const importLogId = await deps.importLogs.submitImport(
    partner.id,
    {
      filePath: 'a.csv',
      pathType: pathType.sharedBucket,
      keyType: keyType.foreignKey,
      compressed: null,
      mode: importMode.merge,
      credentials: null,
    },
    1_000,
  );
  const query = (text: string): Promise<unknown> => withDatabase(stores, (client) => client.query(text, [importLogId]));
  await query(
    `WITH file AS (
       INSERT INTO job_file (job_id, partner_id, key, path, etag, size, batch_id)
       SELECT id, partner_id, 'a.csv', 'a.csv', 'e', 1, 1 FROM job WHERE id = $1 RETURNING id
     ) INSERT INTO job_file_reject (job_file_id, reason, rows, first_row) SELECT id, 'zero_id', 1, 1 FROM file`,
  );
  const queue = deps.rejectQueue;
  const subject = { importLogId };
  const request = () =>
    deps.rejects.request(partner.id, subject, {
      folder: 'acme/rejects/1/',
      credentials: null,
      maxOpen: 10,
      share: null,
    });
  const claimed = async () => {
    const claim = await queue.claim(10);
    if (!claim) throw new Error('no export is due');
    return { claim, files: await queue.start(claim) };
  };
  await request();
  const { claim, files } = await claimed();
  const [file] = files;
  if (!file) throw new Error('the export has no file');
  const failure = { code: 'file_changed', detail: 'changed' } as const;
  await queue.commitFile(claim, file, { is: 'failed', failure });
  await queue.finish(claim, null, 7);
  expect(await deps.rejects.find(partner.id, subject)).toMatchObject({ files: { total: 1, failed: 1 } });

  await request();
  expect(await queue.claim(10)).toMatchObject({ tries: 1 });
  await query(`UPDATE reject_export SET claimed_until = now() - interval '1 second' WHERE job_id = $1`);
  const next = await claimed();
  expect(next).toMatchObject({ claim: { tries: 2 }, files: [{ fileId: file.fileId }] });

  await queue.postpone(next.claim, -1, { counts: false });
  const third = await claimed();
  expect(third).toMatchObject({ claim: { attempt: next.claim.attempt + 1, tries: 2 } });
  await query(`UPDATE reject_export SET requested_at = now() - interval '25 hours' WHERE job_id = $1`);
  await queue.postpone(third.claim, -1, { counts: true });
  const { claim: last } = await claimed();
  expect(last.tries).toBe(3);
  expect(Math.floor(last.openSeconds / 3_600)).toBe(25);
});
