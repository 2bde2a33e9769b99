import { parse } from 'csv-parse';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { secondsOf } from '../bench.ts';
import type { Running } from '../service.ts';
import { yardstickPartnerId } from './bare-engine.ts';
import { openObject } from './get-object.ts';

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const chunkLength = 65_536;

/**
 * A hand-written loader that reads and decompresses the file, parses it with `csv-parse`, validates every row, and
 * inserts the rows with `@clickhouse/client`.
 */
export async function loadByNode({ partner, engine }: Running, path: string): Promise<number> {
  return secondsOf(async () => {
    const rows = checkedRows();
    await Promise.all([
      pipeline(await openObject(partner, path), createGunzip(), parse({ relax_column_count: true }), rows),
      engine.insert({
        table: 'audience_devices_local',
        columns: ['partner_id', 'audience_id', 'generation', 'device', 'event', 'file_id'],
        values: rows,
        format: 'CSV',
        clickhouse_settings: { optimize_on_insert: 0 },
      }),
    ]);
  });
}

/** Sends CSV in chunks. One million rows took 5.2 to 8.0 s as CSV and 9.6 to 13.7 s as JSONCompactEachRow objects. */
function checkedRows(): Transform {
  let chunk = '';
  return new Transform({
    writableObjectMode: true,
    transform(record: readonly string[], _encoding, done) {
      const [id = '', event = ''] = record;
      if (record.length !== 2 || !idPattern.test(id)) {
        done(new Error(`bad row: ${record.join()}`));
        return;
      }
      chunk += `${yardstickPartnerId},1,0,${id},"${event.replaceAll('"', '""')}",1\n`;
      if (chunk.length < chunkLength) {
        done();
        return;
      }
      done(null, chunk);
      chunk = '';
    },
    flush(done) {
      done(null, chunk);
    },
  });
}
