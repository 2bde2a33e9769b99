import { describe, expect, it } from 'vitest';
import { healthy } from '../../domain/webhook-schedule.ts';
import type { AttemptResult, DueDelivery } from '../../domain/webhook.ts';
import { assess, eventDispatcher } from './deliver-events.ts';

const schedule = { scale: 1, random: () => 0 };
const silentLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
const start = Date.UTC(2026, 10, 18, 12);

function attempt(
  status: number | null,
  { seconds = 0, tries = 0, isReplay = false }: { seconds?: number; tries?: number; isReplay?: boolean } = {},
): { delivery: DueDelivery; result: AttemptResult } {
  return {
    delivery: {
      event: {
        id: 'evt_1',
        sequence: 1,
        type: 'audience.cleared',
        data: { audienceId: 1, warehouseSegmentId: 2 },
        customer: null,
        createdAt: new Date(start),
      },
      reason: 'first',
      isReplay,
      tries,
    },
    result: {
      at: new Date(start + seconds * 1000),
      milliseconds: 1,
      status,
      error: status === null ? 'connection_failed' : null,
      retryAfterSeconds: null,
    },
  };
}

describe('the assessment of a batch of attempts', () => {
  it('schedules the next attempt for each failed event, and none after the last attempt', () => {
    const { attempts } = assess(
      { health: healthy },
      [attempt(500), attempt(500, { tries: 9 }), attempt(200)],
      schedule,
    );
    expect(attempts.map(({ nextAttemptAt }) => nextAttemptAt?.getTime() ?? null)).toEqual([start + 5_000, null, null]);
  });

  it('counts events that fail together as one failure', () => {
    const eight = Array.from({ length: 8 }, () => attempt(500));
    expect(assess({ health: healthy }, eight, schedule).health).toMatchObject({ failuresInARow: 1, pausedUntil: null });
  });

  it('takes the state from the attempt that ended last', () => {
    const mixed = [attempt(500, { seconds: 2 }), attempt(200, { seconds: 1 })];
    expect(assess({ health: healthy }, mixed, schedule).health.failuresInARow).toBe(1);
    expect(assess({ health: healthy }, [...mixed, attempt(204, { seconds: 3 })], schedule).health).toEqual(healthy);
  });

  it('disables the webhook after a 410 response, even if there are other failures', () => {
    const { health } = assess({ health: healthy }, [attempt(500), attempt(410), attempt(500)], schedule);
    expect(health.disabled?.reason).toBe('gone');
  });

  it('does not start a period of failures with a failed replay', () => {
    const { health } = assess({ health: healthy }, [attempt(500, { isReplay: true })], schedule);
    expect(health).toEqual({ ...healthy, failuresInARow: 1 });
  });

  it('disables the webhook after a 410 response to a new event, but not to a replay', () => {
    const replayed = attempt(410, { isReplay: true });
    const healthAfter = (...batch: Parameters<typeof assess>[1]) => assess({ health: healthy }, batch, schedule).health;
    const failing = { ...healthy, failuresInARow: 1, failingSince: new Date(start), lastFailureAt: new Date(start) };
    expect(healthAfter(replayed, replayed)).toEqual({ ...healthy, failuresInARow: 1 });
    expect(healthAfter(replayed, attempt(500))).toEqual(failing);
    expect(healthAfter(attempt(500), replayed)).toEqual(failing);
    expect(healthAfter(replayed, attempt(410)).disabled?.reason).toBe('gone');
    expect(healthAfter(attempt(500, { isReplay: true }), attempt(410)).disabled?.reason).toBe('gone');
  });

  it('starts a period of failures if a new event fails together with replays', () => {
    const batch = [attempt(500, { isReplay: true }), attempt(500), attempt(500, { isReplay: true })];
    const { health } = assess({ health: healthy }, batch, schedule);
    expect(health).toMatchObject({ failuresInARow: 1, failingSince: new Date(start) });
  });
});

describe('the dispatcher', () => {
  it('claims no more webhooks than it has places for, even in concurrent calls', async () => {
    const isOver = Promise.withResolvers<null>();
    let claimed = 0;
    const dispatcher = eventDispatcher({
      webhookQueue: {
        claim: async ({ limit, areFailing }) => {
          await Promise.resolve();
          if (areFailing) return [];
          return Array.from({ length: limit }, () => ({ webhookId: (claimed += 1), claim: 1 }));
        },
        findDue: () => isOver.promise,
        record: () => Promise.resolve(true),
        release: () => Promise.resolve(),
      },
      webhookSender: { send: () => Promise.reject(new Error('nothing is due')) },
      delivery: { scale: 1, timeoutSeconds: 1, maxWebhooks: 4 },
      log: silentLog,
      recordAttempt: () => {},
    });
    await Promise.all([dispatcher.dispatch(), dispatcher.dispatch()]);
    expect(claimed).toBe(4);
    const stopped = dispatcher.stop();
    isOver.resolve(null);
    await stopped;
    expect(claimed).toBe(4);
  });
});
