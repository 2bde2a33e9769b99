import type { AudienceClient } from '../../test/acceptance/audience-client.ts';
import { secondsOf, type Bench } from '../bench.ts';
import { loaded, secondsToLoad } from '../load.ts';
import { otherPartners } from '../other-partners.ts';
import { scaled } from '../scale.ts';
import { withService } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { deleteMembers } from '../warehouse.ts';

const path = 'members.csv.gz';
const partnerCount = 10;
const audiencesOfPartner = scaled(100);
const rowsOfAudience = 100_000;
const rows = partnerCount * audiencesOfPartner * rowsOfAudience;

export const bench: Bench = {
  title: 'Throughput of 1,000 audiences of 100,000 rows each, compared with one load of 10 million rows',
  compares:
    "Both sides measure how long Inlet takes until status 2, in seconds per million rows. The audiences belong to 10 partners, because one partner's audiences load one after the other. There is one pair.",
  better: 'higher',
  run: async (printLine) =>
    withService('one', async (running) => {
      printLine('creating the partners, the known devices and the files …');
      await prepareTenMillion(running, path);
      const clients = await otherPartners(running, partnerCount, path, rowsOfAudience);
      await secondsToLoad(running.audiences, path, tenMillion); // the warm-up
      await deleteMembers(running);
      const many = await secondsOf(() => Promise.all(clients.map(loadAll)));
      await deleteMembers(running);
      const one = await secondsToLoad(running.audiences, path, tenMillion);
      printLine(`small audiences ${many.toFixed(2)} s, large load ${one.toFixed(2)} s`);
      const pairs = [{ inlet: (many / rows) * 1_000_000, yardstick: (one / tenMillion.rows) * 1_000_000 }];
      return { pairs, rows };
    }),
};

/** Creates all audiences and then waits until each one is loaded. */
async function loadAll(client: AudienceClient): Promise<void> {
  const ids: number[] = [];
  for (let n = 0; n < audiencesOfPartner; n++) ids.push((await client.create(`audience ${n}`, path)).audienceId);
  for (const id of ids) await loaded(client, id, { unique: rowsOfAudience });
}
