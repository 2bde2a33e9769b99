import type { KeyType } from './import-log.ts';

/** When the objects that have arrived are imported. */
export type Trigger =
  | { readonly on: 'quiet'; readonly seconds: number }
  | { readonly on: 'marker'; readonly name: string }
  | { readonly on: 'interval'; readonly seconds: number }
  /** Minutes after midnight UTC. */
  | { readonly on: 'daily'; readonly minute: number };

export type SubscriptionSettings = {
  readonly keyType: KeyType;
  readonly compressed: boolean;
  readonly trigger: Trigger;
};

/**
 * What became of an object version. `overwritten` and `deleted`: it was overwritten or deleted before it was loaded.
 * `skipped`: it existed when the subscription was created. `marker`: it starts imports and is not imported itself.
 */
export const objectStates = [
  'waiting',
  'queued',
  'imported',
  'failed',
  'overwritten',
  'deleted',
  'skipped',
  'marker',
] as const;
export type ObjectState = (typeof objectStates)[number];

/** Why objects that have arrived are not imported yet. */
export const waitReasons = ['quiet', 'marker', 'schedule', 'open_imports', 'quota', 'too_many_objects'] as const;
export type WaitReason = (typeof waitReasons)[number];

export type Subscription = SubscriptionSettings & {
  readonly id: number;
  /** Relative to the partner's prefix. */
  readonly prefix: string;
  readonly skipsExisting: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly pausedAt: Date | null;
  readonly waitingObjects: number;
  readonly waitsFor: WaitReason | null;
  readonly nextImportAt: Date | null;
  readonly listedAt: Date | null;
  readonly lastImportLogId: number | null;
};

export type SubscriptionObject = {
  readonly id: number;
  /** Relative to the partner's prefix. */
  readonly path: string;
  readonly etag: string;
  readonly size: number;
  readonly state: ObjectState;
  readonly importLogId: number | null;
  readonly errorCode: string | null;
  readonly lastModified: Date;
  readonly seenAt: Date;
  readonly updatedAt: Date;
};

export const maxQuietSeconds = 3_600;
export const minIntervalSeconds = 60;
export const maxIntervalSeconds = 7 * 86_400;
export const maxMarkerLength = 255;

/** An object waits for a quiet prefix for at most this many times the quiet seconds. Then it is imported anyway. */
export const maxQuietPeriods = 10;

/** Maximum number of open imports per subscription. Objects that arrive in the meantime are imported together. */
export const maxOpenImports = 10;

/** How long a version that the storage no longer has is remembered. */
export const goneObjectDays = 90;

/** The time of the next import of a schedule, after `now`. Null for other triggers. */
export function nextImportAfter(trigger: Trigger, now: Date): Date | null {
  if (trigger.on === 'interval') return new Date(now.getTime() + trigger.seconds * 1000);
  if (trigger.on !== 'daily') return null;
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()) + trigger.minute * 60_000;
  return new Date(today > now.getTime() ? today : today + 86_400_000);
}

/** Whether the last segment of the path is the name of the marker. */
export function isMarker(trigger: Trigger, key: string): boolean {
  return trigger.on === 'marker' && (key === trigger.name || key.endsWith(`/${trigger.name}`));
}

const timePattern = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** Reads a time such as `02:30`. Returns null if the text is not a time. */
export function minuteOfDay(text: string): number | null {
  const [, hours, minutes] = timePattern.exec(text) ?? [];
  return hours === undefined || minutes === undefined ? null : Number(hours) * 60 + Number(minutes);
}

export function timeOfMinute(minute: number): string {
  return [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');
}

export type Arrivals = {
  /** Objects that wait for an import. */
  readonly waiting: number;
  /**
   * Waiting objects in a folder whose marker was written after them and was seen before the listing. A paged listing
   * can show a marker without the objects that were written during the listing.
   */
  readonly marked: number;
  /** Whether this listing is the first that shows a marker written after waiting objects. */
  readonly hasNewMarker: boolean;
  readonly openImports: number;
  /** Seconds from the last change to the start of the listing. A later listing can find a later change. */
  readonly quietSeconds: number;
  /** Seconds since the oldest waiting object was seen. */
  readonly oldestSeconds: number;
  /** Whether the time of the next import has come. */
  readonly isScheduled: boolean;
};

/** Decides after a listing whether to create an import and, if not, what the objects wait for. */
export function decideImport(
  trigger: Trigger,
  arrivals: Arrivals,
): { readonly imports: 'all' | 'marked' | 'none'; readonly waitsFor: WaitReason | null } {
  if (arrivals.waiting === 0) return { imports: 'none', waitsFor: null };
  const reason = unmetReason(trigger, arrivals);
  if (reason !== null) return { imports: 'none', waitsFor: reason };
  if (arrivals.openImports >= maxOpenImports) return { imports: 'none', waitsFor: 'open_imports' };
  if (trigger.on !== 'marker') return { imports: 'all', waitsFor: null };
  return { imports: 'marked', waitsFor: arrivals.marked < arrivals.waiting ? 'marker' : null };
}

function unmetReason(trigger: Trigger, arrivals: Arrivals): WaitReason | null {
  if (trigger.on === 'marker') return arrivals.marked === 0 ? 'marker' : null;
  if (trigger.on !== 'quiet') return arrivals.isScheduled ? null : 'schedule';
  const isQuiet =
    // Without a quiet time, what this listing has found is imported at once.
    trigger.seconds === 0 ||
    arrivals.quietSeconds >= trigger.seconds ||
    arrivals.oldestSeconds >= trigger.seconds * maxQuietPeriods;
  return isQuiet ? null : 'quiet';
}

/** Seconds until the next listing, if no notification arrives earlier. */
export function secondsToListing(
  trigger: Trigger,
  after: { readonly waitsFor: WaitReason | null; readonly hasMore: boolean },
  listSeconds: number,
): number {
  if (after.hasMore) return 0;
  const { waitsFor } = after;
  if (waitsFor === 'open_imports') return Math.min(blockedSeconds, listSeconds);
  if (waitsFor === 'quiet' && trigger.on === 'quiet') return Math.min(trigger.seconds, listSeconds);
  return listSeconds;
}

/** Whether objects wait although the trigger would import them. */
export function isBlocked(waitsFor: WaitReason | null): boolean {
  return waitsFor === 'open_imports' || waitsFor === 'quota';
}

/** How often a subscription that waits for a free place in the lane is tried again. A quota takes longer to change. */
const blockedSeconds = 2;
