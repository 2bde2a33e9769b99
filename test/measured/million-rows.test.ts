import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ImportLogRecord } from '../../src/adapters/http/records/import-log.ts';
import { cpuOfEngine, cpuOfProcess } from '../support/cpu-time.ts';
import { topologies } from '../support/environment.ts';
import { makeMillionRows } from '../support/million-rows.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { startService, type Service } from '../support/running-service.ts';
import { createStores, type TestStores } from '../support/stores.ts';
import { apiClient, type ApiClient } from '../acceptance/api-client.ts';

const measured = inject('campaign') === 'long' ? topologies : (['two'] as const);

describe.each(measured)('a gzipped file of a million rows, one in a hundred rejected, on %s shard(s)', (topology) => {
  let stores: TestStores;
  let service: Service;
  let partner: TestPartner;

  beforeAll(async () => {
    stores = await createStores(topology);
    partner = await createPartner(stores.environment);
    await partner.createAttribute('sport', 'crm-sport');
    service = await startService(stores.environment, `million-${topology}`);
  });

  afterAll(async () => {
    await service.stop();
    await stores.drop();
  });

  it('the file is loaded with exact counts per rejection reason and little worker CPU time', async () => {
    const made = makeMillionRows('crm-sport');
    const api = apiClient(service.url, partner.apiKey);
    // The first import of a process also opens connections and compiles code, which is not measured.
    await partner.upload('first.csv', '6d92078a-8246-4ba4-ae5b-76104861e7dc,crm-sport\n');
    await api.waitForEnd(await api.queue({ file_path: 'first.csv', key_type: 1 }));
    const expected = Array.from(made.rejected, ([code, { rows, firstRow }]) => ({ code, row: firstRow, count: rows }));
    const ratios: number[] = [];
    for (const file of ['1.csv.gz', '2.csv.gz', '3.csv.gz']) {
      await partner.upload(file, made.file);
      const { log, ratio } = await measure(api, file);
      ratios.push(ratio);
      expect(log).toMatchObject({ status: 2, total_rows: '1000000', unique_devices: String(made.uniqueDevices) });
      const reported = log.errors?.map((error) => ({ code: error.code, row: error.row, count: error.count }));
      expect(reported).toEqual(expected.toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1)));
      expect(new Set(log.errors?.map((error) => error.file))).toEqual(new Set([file]));
    }
    expect(made.rejected.size).toBe(8);
    const [, median] = ratios.toSorted((a, b) => a - b);
    expect(median).toBeLessThan(0.2);
  });

  /**
   * The worker uses about a tenth of a second, which is ten clock ticks, so measuring a single import would be
   * imprecise.
   */
  const measure = async (api: ApiClient, file: string): Promise<{ log: ImportLogRecord; ratio: number }> => {
    const workerPid = service.worker.pid ?? 0;
    const before = { worker: cpuOfProcess(workerPid), engine: await cpuOfEngine(stores.config) };
    const start = performance.now();
    const log = await api.waitForEnd(await api.queue({ file_path: file, key_type: 1 }));
    const seconds = (performance.now() - start) / 1000;
    const worker = cpuOfProcess(workerPid) - before.worker;
    const engine = (await cpuOfEngine(stores.config)) - before.engine;
    const ratio = worker / engine;
    process.stdout.write(
      `1,000,000 rows, ${topology} shard(s): ${seconds.toFixed(2)} s, worker ${worker.toFixed(2)} s of CPU, engine ${engine.toFixed(2)} s, ratio ${ratio.toFixed(3)}\n`,
    );
    return { log, ratio };
  };
});
