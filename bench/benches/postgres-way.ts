import { alternate, type Bench } from '../bench.ts';
import { putFile } from '../files.ts';
import { loaded, secondsToAppend } from '../load.ts';
import { scaled } from '../scale.ts';
import { withService } from '../service.ts';
import { waitUntilIdle, deleteMembers } from '../warehouse.ts';
import { withPostgresWay } from '../yardsticks/postgres-way.ts';

const rows = scaled(5_000_000);
const alreadyThere = Math.floor(rows / 2);
const after = rows * 2 - alreadyThere;
const base = 'base.csv.gz';
const added = 'added.csv.gz';

export const bench: Bench = {
  title: 'Append 5 million rows, half of them already present, to an audience of 5 million, compared with PostgreSQL',
  compares:
    "Inlet: from the PATCH request with a gzipped file until status 2. Yardstick: `COPY` of the uncompressed file from the server's disk into an unlogged table, then `INSERT … ON CONFLICT DO NOTHING` into a table with a unique index on audience, device, and event. The ratio is Inlet's speedup.",
  better: 'higher',
  goal: 10,
  run: async (printLine) =>
    withService('one', async (running) => {
      const { audiences } = running;
      printLine('creating the files …');
      await putFile(running, base, { from: 0, count: rows });
      await putFile(running, added, { from: rows - alreadyThere, count: rows });
      return withPostgresWay(running, { base, added }, after, async (postgres) => {
        const pairs = await alternate(5, printLine, {
          inlet: async () => {
            await deleteMembers(running);
            const { audienceId } = await audiences.create('base', base);
            await loaded(audiences, audienceId, { unique: rows });
            await waitUntilIdle(running);
            return secondsToAppend(audiences, audienceId, added, { unique: after });
          },
          yardstick: async () => {
            await postgres.prepare();
            return postgres.append();
          },
        });
        return { pairs, rows };
      });
    }),
};
