import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { stopAt } from '../../src/entry/failpoints.ts';
import type { FaultPartner } from '../fault/fault-partner.ts';
import { startHouse, type House } from '../fault/house.ts';
import { askForOneOfEach, members, roomBytes } from '../fault/one-of-each.ts';
import { copyTree, pathInTree } from '../gates/copy-of-tree.ts';
import { device } from '../support/device-id.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { bugs, type Bug } from './bugs.ts';

// The auditor is only worth something if it notices. Each of these mistakes is made in a copy of the tree, whose processes
// then do everything that a partner can ask for; the auditor must say what is wrong. Without a mistake it must be silent.

const settings = { INLET_ROOM_BYTES: String(roomBytes), INLET_PURGE_SECONDS: '1' };
/** Longer than all takes when nothing is wrong. */
const patienceSeconds = 40;

/** What a mistake makes wait for ever is no longer waited for. */
async function forAWhile(asking: Promise<void>): Promise<void> {
  await Promise.race([asking.catch(() => undefined), pause(patienceSeconds * 1000, undefined, { ref: false })]);
}

async function whileOneStandsStill(house: House, { stopAt: point = '', first, meanwhile }: Bug): Promise<FaultPartner> {
  const victim = await house.addWorker({ INLET_FAILPOINT: stopAt + point });
  const partner = await house.newPartner();
  const [a] = partner.attributes;
  if (first === 'import')
    await partner.importFiles('merge', [[{ device: device(1), isDelete: false, attributes: [a] }]]);
  const other = await partner.createAudience([members(0, 3)]);
  const stopped = (): Promise<boolean> =>
    Promise.resolve(readFileSync(`/proc/${victim.child.pid}/stat`, 'utf8').includes(') T '));
  const ask = async (): Promise<void> => {
    await partner.createAudience([members(0, 4)]);
    if (meanwhile === 'clear') {
      await waitUntil('a worker stands still', stopped, patienceSeconds);
      await partner.clear(other);
      await partner.append(other, [members(20, 22)]);
    }
    await askForOneOfEach(partner);
  };
  const asking = ask();
  asking.catch(() => undefined); // what goes wrong is seen below
  await waitUntil('a worker stands still', stopped, patienceSeconds);
  await house.addWorker();
  await forAWhile(asking);
  victim.child.kill('SIGCONT');
  return partner;
}

async function say(bug: Bug | null): Promise<string[]> {
  const tree = bug && copyTree();
  if (tree) {
    let text = readFileSync(pathInTree(bug.file), 'utf8');
    for (const [from, to] of bug.changes) {
      if (text.split(from).length !== 2) throw new Error(`"${from}" is not there once: ${bug.name}`);
      text = text.replace(from, () => to);
    }
    tree.write(bug.file, text);
  }
  const stops = bug?.stopAt !== undefined;
  const house = await startHouse('planted', {
    topology: 'two',
    workers: stops ? 0 : 1,
    settings,
    ...(tree && { tree: tree.folder }),
  });
  try {
    const partners = stops
      ? [await whileOneStandsStill(house, bug)]
      : [await house.newPartner(), await house.newPartner()];
    if (!stops) await Promise.all(partners.map((partner) => forAWhile(askForOneOfEach(partner))));
    await withDatabase(house.stores, (client) => client.query('UPDATE partner SET purge_after = now()'));
    return await house.auditAtEnd(partners, bug ? 12 : patienceSeconds);
  } finally {
    for (const { child } of house.workers) child.kill('SIGKILL');
    await house.stop();
    tree?.drop();
  }
}

describe('the auditor', () => {
  it('has nothing to say when there is no mistake', async () => {
    expect(await say(null)).toEqual([]);
  });

  it.each(bugs)('notices: $name', async (bug) => {
    const said = await say(bug);
    process.stdout.write(`planted: ${bug.name}: ${said.length} sentences, first: ${said[0] ?? '-'}\n`);
    expect(said.filter((sentence) => bug.says.test(sentence))).not.toEqual([]);
  });
});
