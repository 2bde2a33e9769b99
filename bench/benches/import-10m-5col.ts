import { apiClient } from '../../test/acceptance/api-client.ts';
import { alternate, secondsOf, type Bench } from '../bench.ts';
import { deviceSql, putFile } from '../files.ts';
import { enginePeak } from '../memory.ts';
import { scaled } from '../scale.ts';
import { withService, type Running } from '../service.ts';
import { deleteAttributes, publishedRows } from '../warehouse.ts';
import { insertAttributes } from '../yardsticks/bare-engine.ts';
import { fastestInsert } from '../yardsticks/fastest-insert.ts';

const rows = scaled(10_000_000);
const keysOfRow = 4;
const attributeCount = 16;
const path = 'import.csv.gz';

/** Each row has four different keys. All sixteen keys are used equally often. */
const keySql = (n: number): string => `'crm-', toString((intDiv(number, 3) + ${n * 5}) % ${attributeCount})`;
const keysSql = Array.from({ length: keysOfRow }, (_, n) => keySql(n)).join(`, '|', `);
const lineSql = `concat(toString(${deviceSql('number')}), if(number % 2 = 0, ',1,', ',3,'), ['DE', 'US', 'FR'][number % 3 + 1], ',0,', ${keysSql})`;

export const bench: Bench = {
  title:
    'Import 10 million gzipped rows of five columns with 4 keys each, which produce 40 million device–attribute rows',
  compares:
    'Inlet: from `POST /v1/marketplace/import` until the import log has status 2. Yardstick: a bare ClickHouse statement, `INSERT … SELECT FROM s3()` with `arrayJoin` and `transform`, into the same table.',
  goal: 1.3,
  run: async (printLine) =>
    withService('one', async (running) => {
      printLine('creating the attributes and the file …');
      const attributes = await createAttributes(running);
      await putFile(running, path, { from: 0, count: rows }, { line: lineSql });
      const bare = await fastestInsert(running, path, insertAttributes(attributes), deleteAttributes);
      const start = new Date();
      const pairs = await alternate(5, printLine, {
        inlet: async () => {
          await deleteAttributes(running);
          const seconds = await secondsToImport(running);
          await requireAllRows(running);
          return seconds;
        },
        yardstick: async () => {
          const seconds = await bare.run();
          await requireAllRows(running);
          return seconds;
        },
      });
      return { pairs, rows, notes: [bare.note, `peak memory of ClickHouse: ${await enginePeak(running, start)} MiB`] };
    }),
};

async function createAttributes({ partner }: Running): Promise<Map<string, number>> {
  const attributes = new Map<string, number>();
  for (let n = 0; n < attributeCount; n++) {
    attributes.set(`crm-${n}`, await partner.createAttribute(`attribute ${n}`, `crm-${n}`));
  }
  return attributes;
}

async function secondsToImport({ service, partner }: Running): Promise<number> {
  const api = apiClient(service.url, partner.apiKey);
  return secondsOf(async () => {
    const log = await api.waitForEnd(await api.queue({ file_path: path, key_type: 1 }), 3600);
    const isRight = log.status === 2 && Number(log.unique_devices) === rows && Number(log.total_rows) === rows;
    if (!isRight) throw new Error(JSON.stringify(log));
  });
}

async function requireAllRows(running: Running): Promise<void> {
  const published = await publishedRows(running, 'device_attributes_local');
  if (published !== rows * keysOfRow) throw new Error(`${published} device–attribute rows`);
}
