import { waitUntil } from '../test/support/wait-until.ts';
import { alternate, type Bench } from './bench.ts';
import { loaded, secondsToLoad } from './load.ts';
import { withService, type Running } from './service.ts';
import { prepareTenMillion, tenMillion } from './ten-million.ts';
import { deleteMembers, publishedRows } from './warehouse.ts';
import { insertMembers } from './yardsticks/bare-engine.ts';
import { fastestInsert } from './yardsticks/fastest-insert.ts';

/**
 * Compares a load of ten million rows with a bare ClickHouse INSERT. The load ends at status 2 or when the rows are
 * published.
 */
export function loadBench(
  of: Omit<Bench, 'compares' | 'run'> & { path: string; until: 'done' | 'published'; topology?: 'one' | 'replicated' },
): Bench {
  return {
    ...of,
    compares: `Inlet: from \`POST /v2/firstparty/audience\` until ${of.until === 'done' ? 'status 2, including both counts' : 'all rows are in the final table'}. Yardstick: a bare ClickHouse statement, \`INSERT … SELECT FROM s3()\`, that loads the same file into the same ${of.topology === 'replicated' ? 'replicated tables, until every replica has the rows' : 'table'}.`,
    run: async (printLine) =>
      withService(of.topology ?? 'one', async (running) => {
        printLine('creating the known devices and the file …');
        await prepareTenMillion(running, of.path);
        const bare = await fastestInsert(running, of.path, insertMembers, deleteMembers);
        const pairs = await alternate(5, printLine, {
          inlet: async () => {
            await deleteMembers(running);
            return of.until === 'done'
              ? secondsToLoad(running.audiences, of.path, tenMillion)
              : secondsToPublish(running, of.path);
          },
          yardstick: bare.run,
        });
        return { pairs, rows: tenMillion.rows, notes: [bare.note] };
      }),
  };
}

async function secondsToPublish(running: Running, path: string): Promise<number> {
  const start = performance.now();
  const { audienceId } = await running.audiences.create(path, path);
  // Only this load writes to the table. The poll interval is 100 ms, because polling every 20 ms took a third of a core
  // from the load.
  const isPublished = async (): Promise<boolean> =>
    (await publishedRows(running, 'audience_devices_local')) >= tenMillion.rows;
  await waitUntil('all rows are published', isPublished, 3600, 100);
  const seconds = (performance.now() - start) / 1000;
  await loaded(running.audiences, audienceId, tenMillion);
  return seconds;
}
