import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audienceFileListSchema } from '../../src/adapters/http/records/audience.ts';
import { rejectsSchema } from '../../src/adapters/http/records/rejects.ts';
import { keyOfRejects, maxExportAttempts } from '../../src/domain/reject-export.ts';
import { exportRejects } from '../../src/usecases/rejects/export-rejects.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { goodKey } from '../support/bad-rows.ts';
import { configFor } from '../support/environment.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { startProxy } from '../support/proxy.ts';
import { stopProcess } from '../support/running-service.ts';
import { silentLog } from '../support/silent-log.ts';
import { type Audiences, startAudiences } from '../support/start-audiences.ts';
import { withDatabase } from '../support/stores.ts';
import { type Wired, wireAll, wireUp } from '../support/wired.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { audiencePath } from './audience-client.ts';

describe('exports of rejected rows on one worker', () => {
  let market: Audiences;
  let deps: Wired;
  let other: TestPartner;
  let othersApi: ApiClient;
  let imports: { readonly large: number; readonly second: number; readonly ofOther: number; readonly outage: number };
  let audienceId: number;

  const signal = new AbortController().signal;

  beforeAll(async () => {
    market = await startAudiences('rejects-queue');
    deps = await wireUp(market.stores);
    other = await createPartner(market.stores.environment);
    othersApi = apiClient(market.service.url, other.apiKey);
    for (const partner of [market.partner, other]) await partner.createAttribute('sport', goodKey);
    const imported = async (partner: TestPartner, api: ApiClient, folder: string, files: number): Promise<number> => {
      for (let n = 0; n < files; n++)
        await partner.upload(`${folder}/${n}.csv`, `nonsense-${n},${goodKey}\n`.repeat(9));
      const id = await api.queue({ file_path: `${folder}/`, key_type: 1, compressed: false });
      await api.waitForEnd(id);
      return id;
    };
    imports = {
      large: await imported(market.partner, market.api, 'large', 4),
      second: await imported(market.partner, market.api, 'second', 2),
      ofOther: await imported(other, othersApi, 'other', 2),
      outage: await imported(market.partner, market.api, 'outage', 1),
    };
    await market.partner.upload('members.csv', 'nonsense,x\n');
    ({ audienceId } = await market.audiences.create('Rejects', 'members.csv'));
    await market.audiences.settled(audienceId);
    // The tests run the exports themselves.
    await stopProcess(market.service.worker);
  });
  afterAll(async () => {
    await deps.close();
    await market.stop();
  });

  const post = async (api: ApiClient, path: string): Promise<void> => {
    expect((await api.request(path, { method: 'POST', body: '{}' })).status).toBe(202);
  };
  const ofImport = (id: number): string => `/v1/marketplace/import/${id}/rejects`;

  it("exports take turns, so that one partner's small export finishes before another partner's large one", async () => {
    await post(market.api, ofImport(imports.large));
    await post(market.api, ofImport(imports.second));
    await post(othersApi, ofImport(imports.ofOther));
    const order: number[] = [];
    const rejectQueue: Wired['rejectQueue'] = {
      ...deps.rejectQueue,
      commitFile: (claim, file, outcome) => {
        order.push(claim.source.jobId);
        return deps.rejectQueue.commitFile(claim, file, outcome);
      },
    };
    // Here, every turn ends after one file, as if each file took ten seconds.
    await exportRejects({ ...deps, rejectQueue, log: silentLog }, signal, 0);
    const { large, second, ofOther } = imports;
    // A turn does not end while no other partner is waiting.
    expect(order).toEqual([large, ofOther, second, ofOther, large, large, large, second]);
    for (const [api, id, files] of [
      [market.api, large, 4],
      [market.api, second, 2],
      [othersApi, ofOther, 2],
    ] as const) {
      const found = rejectsSchema.parse(await (await api.request(ofImport(id))).json());
      expect(found).toMatchObject({ status: 2, files_done: files, rows: 9 * files });
    }
  });

  it('exports wait while the storage answers every request with an internal error', async () => {
    const storage = await startProxy(readAddresses().s3.endpoint);
    const during = await wireAll(configFor({ ...market.stores.environment, INLET_S3_ENDPOINT: storage.address }));
    const execute = (text: string) => withDatabase(market.stores, (db) => db.query(text, [imports.outage]));
    const statusOf = async () =>
      rejectsSchema.parse(await (await market.api.request(ofImport(imports.outage))).json()).status;
    try {
      await post(market.api, ofImport(imports.outage));
      // The next attempt that counts is the last one.
      await execute(`UPDATE reject_export SET attempt = earlier_attempts + ${maxExportAttempts - 1} WHERE job_id = $1`);
      storage.make({ is: 'answered', with: 'HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n\r\n' });
      await exportRejects({ ...during, log: silentLog }, signal);
      expect(await statusOf()).toBeLessThan(2);
      storage.make({ is: 'none' });
      const due = `UPDATE reject_export SET claimed_until = now() - interval '1 second' WHERE job_id = $1`;
      await execute(due);
      await exportRejects({ ...during, log: silentLog }, signal);
      expect(await statusOf()).toBe(2);
    } finally {
      await during.close();
      await storage.close();
    }
  });

  it('exports end when their audience is deleted, and their objects are removed', async () => {
    const answer = await market.api.request(`${audiencePath}/${audienceId}/files`);
    const [file] = audienceFileListSchema.parse(await answer.json());
    await post(market.api, `${audiencePath}/${audienceId}/files/${file?.file_id}/rejects`);
    const claim = await deps.rejectQueue.claim(10);
    if (!claim) throw new Error('no export is due');
    const [toExport] = await deps.rejectQueue.start(claim);
    if (!toExport) throw new Error('the export has no file');
    const { bucket, prefix, s3 } = market.partner;
    const objects = async () => {
      const { Contents: found = [] } = await s3.send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: `${prefix}rejects/audiences/${audienceId}/` }),
      );
      return found.length;
    };
    const key = keyOfRejects(claim.folder, claim.attempt, { fileId: toExport.fileId, path: 'members.csv' });
    await deps.rejectStorage.write(key, Readable.from([Buffer.from('rows')]), signal);
    expect(await deps.rejectQueue.renew(claim, 10, null)).toBe(true);

    await market.audiences.remove(audienceId);
    expect(await deps.rejectQueue.renew(claim, 10, null)).toBe(false);
    const outcome = { is: 'done', key, bytes: 4, rows: 1 } as const;
    expect(await deps.rejectQueue.commitFile(claim, toExport, outcome)).toBe(false);
    // The worker may keep writing until it notices the deletion, so the objects are removed after its lease expires.
    await exportRejects({ ...deps, log: silentLog }, signal);
    expect(await objects()).toBe(1);
    const execute = (text: string) =>
      withDatabase(market.stores, (db) => db.query<{ status: number }>(text, [claim.exportId]));
    await execute(`UPDATE reject_export SET claimed_until = now() - interval '1 second' WHERE id = $1`);
    expect((await execute('SELECT status FROM reject_export WHERE id = $1')).rows).toEqual([{ status: 3 }]);
    await exportRejects({ ...deps, log: silentLog }, signal);
    expect(await objects()).toBe(0);
    expect((await execute('SELECT status FROM reject_export WHERE id = $1')).rows).toEqual([]);
  });
});
