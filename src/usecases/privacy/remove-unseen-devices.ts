import type { Retention } from '../../domain/retention.ts';
import type { PartnerId } from '../../domain/ids.ts';
import type { DeviceRetention, UnseenRows } from '../../ports/device-retention.ts';
import type { Log } from '../../ports/observability.ts';
import { pause } from '../admin/pause.ts';

type Deps = {
  readonly deviceRetention: DeviceRetention;
  readonly unseenRows: UnseenRows;
  readonly retention: Pick<Retention, 'jobDays'>;
  readonly log: Log;
};

/** How often every worker checks for partners. One worker at a time removes devices, for one partner at a time. */
export const removeUnseenEverySeconds = 10;

const partnersAtATime = 100;

/** After this time, the next partner gets its turn. ClickHouse continues the mutation, and a later attempt waits for it. */
const maxTurnMs = 600_000;

const notYetSeconds = 3_600;
const retryAfterSeconds = 600;

/** The longest pause between two partners. */
const maxPauseMs = 60_000;

/**
 * Removes the attributes of devices that no import has published again for the number of days that the operator has set for
 * the partner. Every step can be repeated: if the worker is killed, another one continues with the same rows.
 */
export async function removeUnseenDevices(deps: Deps, signal: AbortSignal): Promise<void> {
  const { deviceRetention } = deps;
  if (!(await deviceRetention.hasDue())) return;
  await deviceRetention.runAlone(async () => {
    for (const partnerId of await deviceRetention.listDue(partnersAtATime)) {
      if (signal.aborted) return;
      const start = performance.now();
      await removeOfPartner(deps, partnerId, signal);
      // A mutation competes with loads for processors and disks.
      await pause(Math.min(maxPauseMs, performance.now() - start), signal);
    }
  });
}

async function removeOfPartner(deps: Deps, partnerId: PartnerId, signal: AbortSignal): Promise<void> {
  const { deviceRetention, unseenRows, retention, log } = deps;
  const turn = AbortSignal.timeout(maxTurnMs);
  try {
    const removal = await deviceRetention.begin(partnerId, retention.jobDays);
    if (!removal) {
      await deviceRetention.postpone(partnerId, notYetSeconds, null);
      return;
    }
    const found = await unseenRows.find(removal);
    await deviceRetention.recordFound(removal, found);
    if (found.rows > 0) await unseenRows.remove(removal, AbortSignal.any([signal, turn]));
    const remaining = await unseenRows.countRemaining(removal);
    if (remaining > 0) throw new Error(`${remaining} of ${found.rows} rows are still stored.`);
    await deviceRetention.finish(removal);
    if (found.rows > 0) log.info({ ...removal, rows: found.rows }, 'unseen devices removed');
  } catch (error) {
    if (signal.aborted) return;
    if (turn.aborted) {
      log.info({ partnerId }, 'unseen devices are still being removed');
      await deviceRetention.postpone(partnerId, retryAfterSeconds, null);
      return;
    }
    log.warn({ partnerId, err: error }, 'unseen devices not removed');
    const failure = error instanceof Error ? error.message : String(error);
    await deviceRetention.postpone(partnerId, retryAfterSeconds, failure.slice(0, 500));
  }
}
