import {
  type Health,
  type ScheduleSettings,
  assessHealth,
  isDelivered,
  isPaused,
  nextAttemptAt,
} from '../../domain/webhook-schedule.ts';
import type { AttemptResult } from '../../domain/webhook.ts';
import type { Log } from '../../ports/observability.ts';
import type {
  AttemptedDelivery,
  DueEvents,
  WebhookClaim,
  WebhookQueue,
  WebhookSender,
} from '../../ports/webhook-store.ts';

/** A receiver that responds within the timeout never loses its claim to another worker. */
const leaseMarginSeconds = 5;
/** After this time, a webhook gives its place to others. */
const turnMs = 10_000;
/**
 * A webhook counts as slow if its receiver takes at least this long to respond to every event in two consecutive
 * batches, or for a whole turn. It then uses the places of the failing webhooks for a while. Otherwise, a few slow
 * receivers would hold the places of the others. A single slow batch can also be caused by a cold start, or by a moment
 * in which this process was busy.
 */
const slowResponseMs = 1_000;
const slowBatches = 2;
const slowForMs = 5 * 60_000;
/** Number of events that are sent to one webhook concurrently. A failing webhook gets one at a time. */
const concurrency = { healthy: 8, failing: 1 };
/** An event of a type that only a later release knows is left to a worker of that release. */
const unknownEventPauseSeconds = 5;

/** Notifications cause new events to be sent at once. Events whose next attempt is due are sent within this time. */
export const dispatchEveryMs = 2_000;
export const dispatchPauseMs = 50;

export const attemptOutcomes = ['delivered', 'failed', 'gave_up'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

export type DeliverySettings = {
  /** Multiplies the delays between attempts. */
  readonly scale: number;
  readonly timeoutSeconds: number;
  readonly maxWebhooks: number;
};

type Deps = {
  readonly webhookQueue: WebhookQueue;
  readonly webhookSender: WebhookSender;
  readonly delivery: DeliverySettings;
  readonly log: Log;
  readonly recordAttempt: (outcome: AttemptOutcome) => void;
};

export type Dispatcher = {
  /**
   * Starts to send the events of the webhooks that are due, as many as there are free places. Does not wait until they
   * are sent.
   */
  readonly dispatch: () => Promise<void>;
  /** Waits until the attempts in progress are recorded. */
  readonly stop: () => Promise<void>;
};

/**
 * Sends events to webhooks. Failing and slow webhooks have their own places, so that receivers that respond slowly or
 * not at all do not delay the others.
 */
export function eventDispatcher(deps: Deps): Dispatcher {
  const { webhookQueue, delivery, log } = deps;
  const places = [
    { areFailing: false, limit: delivery.maxWebhooks, turns: new Set<Promise<void>>() },
    { areFailing: true, limit: Math.max(1, Math.floor(delivery.maxWebhooks / 4)), turns: new Set<Promise<void>>() },
  ];
  const leaseSeconds = delivery.timeoutSeconds + leaseMarginSeconds;
  const stopped = new AbortController();
  /** Each worker measures for itself. The times are from `performance.now()`. */
  const slowUntil = new Map<number, number>();
  const findSlow = (): number[] => {
    for (const [webhookId, end] of slowUntil) if (end <= performance.now()) slowUntil.delete(webhookId);
    return [...slowUntil.keys()];
  };

  const takeTurn = async (claim: WebhookClaim, areFailing: boolean, onEnd: () => void): Promise<void> => {
    const onSlow = (): void => void slowUntil.set(claim.webhookId, performance.now() + slowForMs);
    try {
      await runTurn(deps, claim, { leaseSeconds, signal: stopped.signal, areFailing, onSlow });
    } catch (error) {
      log.warn({ err: error, webhookId: claim.webhookId }, 'cannot send events to a webhook');
    } finally {
      onEnd();
    }
    try {
      // When events were logged at the end of the turn, the webhook was still claimed.
      await dispatch();
    } catch (error) {
      log.warn({ err: error }, 'cannot claim webhooks');
    }
  };
  const fillPlaces = async (): Promise<void> => {
    for (const { areFailing, limit, turns } of places) {
      const free = limit - turns.size;
      if (free <= 0 || stopped.signal.aborted) continue;
      const claims = await webhookQueue.claim({ limit: free, areFailing, slow: findSlow(), leaseSeconds });
      for (const claim of claims) {
        const turn: Promise<void> = takeTurn(claim, areFailing, () => turns.delete(turn));
        turns.add(turn);
      }
    }
  };
  let last = Promise.resolve();
  // Calls run one after another. Otherwise, two concurrent calls would fill the same places.
  const dispatch = (): Promise<void> => {
    const next = last.then(fillPlaces);
    last = next.catch(() => {});
    return next;
  };
  return {
    dispatch,
    stop: async () => {
      stopped.abort();
      await last;
      await Promise.all(places.flatMap(({ turns }) => [...turns]));
    },
  };
}

type Turn = {
  readonly leaseSeconds: number;
  readonly signal: AbortSignal;
  /** Whether the turn uses one of the places of failing and slow webhooks. */
  readonly areFailing: boolean;
  readonly onSlow: () => void;
};

/** Sends events until nothing is due, the webhook is paused or needs another place, or the turn is over. */
async function runTurn(
  deps: Deps,
  claim: WebhookClaim,
  { leaseSeconds, signal, areFailing, onSlow }: Turn,
): Promise<void> {
  const { webhookQueue } = deps;
  const end = performance.now() + turnMs;
  let hasProgress = false;
  let slowInARow = 0;
  while (!signal.aborted && performance.now() < end) {
    const due = await webhookQueue.findDue(claim, concurrency);
    if (!due || (due.deliveries.length === 0 && !due.hasMoved)) break;
    hasProgress = true;
    const results = await Promise.all(
      due.deliveries.map(async (delivery) => ({
        delivery,
        result: await deps.webhookSender.send(due.target, delivery),
      })),
    );
    const fastestMs = Math.min(...results.map(({ result }) => result.milliseconds));
    slowInARow = results.length > 0 && fastestMs >= slowResponseMs ? slowInARow + 1 : 0;
    const isSlow = slowInARow >= slowBatches || (slowInARow > 0 && fastestMs >= turnMs);
    if (isSlow) onSlow();
    const schedule = { scale: deps.delivery.scale, random: Math.random };
    const { attempts, health, warns } = assess(due, results, schedule);
    if (!(await webhookQueue.record(claim, { due, attempts, health, warns }, leaseSeconds))) return;
    for (const attempt of attempts) deps.recordAttempt(outcomeOf(attempt));
    if (health.disabled || (health.pausedUntil !== null && health.pausedUntil > new Date())) break;
    // The failing and slow webhooks have their own places.
    if (isPaused(health) !== isPaused(due.health) || (isSlow && !areFailing)) break;
  }
  await webhookQueue.release(claim, hasProgress ? 0 : unknownEventPauseSeconds);
}

type Result = { readonly delivery: AttemptedDelivery['delivery']; readonly result: AttemptResult };

/** Decides when each event is sent again, and what the attempts say about the webhook. */
export function assess(
  { health: before }: Pick<DueEvents, 'health'>,
  results: readonly Result[],
  schedule: ScheduleSettings,
): { readonly attempts: readonly AttemptedDelivery[]; readonly health: Health; readonly warns: boolean } {
  const attempts = results.map(({ delivery, result }): AttemptedDelivery => ({
    delivery,
    result,
    nextAttemptAt: isDelivered(result) ? null : nextAttemptAt(delivery.tries + 1, result, schedule),
  }));
  // In the order in which the receiver responded.
  const inOrder = results.toSorted((one, other) => endOf(one.result) - endOf(other.result));
  let health: Health = before;
  let warns = false;
  let hasFailed = false;
  for (const [place, { delivery, result }] of inOrder.entries()) {
    // Events that fail together count as one failure. Otherwise, a brief outage would lead to a long pause.
    if (hasFailed && isOrdinaryFailure({ delivery, result })) continue;
    const isReplayed = isReplay(inOrder.slice(place));
    // Only the response to a new event disables the webhook, so the other failure counts here.
    if (result.status === 410 && delivery.isReplay && !isReplayed) continue;
    hasFailed = !isDelivered(result);
    const next = assessHealth(health, { result, isReplay: isReplayed }, schedule);
    health = next.health;
    warns ||= next.warns;
    if (health.disabled) break;
  }
  return { attempts, health, warns };
}

/** Failures that count as one failure are a replay if all of them are replays. */
function isReplay(results: readonly Result[]): boolean {
  const end = results.findIndex(({ result }) => isDelivered(result));
  return results.slice(0, end === -1 ? undefined : end).every(({ delivery }) => delivery.isReplay);
}

function isOrdinaryFailure({ delivery, result }: Result): boolean {
  const isGone = result.status === 410 && !delivery.isReplay;
  return !isDelivered(result) && !isGone && result.retryAfterSeconds === null;
}

function endOf({ at, milliseconds }: AttemptResult): number {
  return at.getTime() + milliseconds;
}

function outcomeOf({ result, nextAttemptAt: next }: AttemptedDelivery): AttemptOutcome {
  if (isDelivered(result)) return 'delivered';
  return next === null ? 'gave_up' : 'failed';
}
