import type { AudienceProfiler } from '../../../ports/audience-profile.ts';
import { onEveryShard, type Engine } from '../connect.ts';
import { addCells, addMembers } from './add-up.ts';
import { countAttribute } from './attribute-cells.ts';
import type { FingerprintKey } from './fingerprint-key.ts';
import { listEvents } from './listed-events.ts';
import { copyMembers, fingerprintMembers } from './members.ts';
import { inReportSession, type ReportSession } from './report-session.ts';

/** On every shard for itself, one statement at a time: the memory of a report does not grow with the warehouse. */
export function clickhouseAudienceProfiler(engine: Engine, key: FingerprintKey): AudienceProfiler {
  return {
    profile: async (members, counting, attributes, signal) => {
      const countsEvents = counting === 'event' || counting === 'first_event';
      const events = countsEvents ? await listEvents(engine, members, signal) : [];
      const shards = await onEveryShard(engine, (shard) =>
        inReportSession(shard, signal, async (session) => {
          await copyMembers(session, members, counting, events);
          const ofMembers = await fingerprintMembers(session, key, events);
          const cells = [];
          for (const attribute of attributes) cells.push(...(await countAttribute(session, attribute, counting)));
          return { ofMembers, known: await countKnown(session), cells };
        }),
      );
      const { members: fingerprint, matched } = addMembers(shards.map(({ ofMembers }) => ofMembers));
      return {
        members: fingerprint,
        matchedDevices: matched,
        knownDevices: shards.reduce((total, { known }) => total + known, 0),
        cells: addCells(
          shards.flatMap(({ cells }) => cells),
          counting,
          events,
        ),
      };
    },
  };
}

/** Each once, also where the same device stands in parts that are not merged yet. */
async function countKnown(session: ReportSession): Promise<number> {
  const [row] = await session.rows<{ devices: string }>(
    'SELECT toString(count()) AS devices FROM known_devices_local FINAL',
  );
  return Number(row?.devices ?? 0);
}
