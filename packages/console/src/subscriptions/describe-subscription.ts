import type { CreateSubscription, Subscription, SubscriptionObject } from '@inlet/sdk/browser';
import { formatDuration } from '../format.ts';

/** Says when the objects that have arrived are imported, in words that follow "Imports". */
export function describeTrigger({ quiet_seconds, marker, every_seconds, daily_at }: Subscription['trigger']): string {
  if (marker !== null) return `when ${marker} is written`;
  if (every_seconds !== null) return `every ${formatDuration(every_seconds)}`;
  if (daily_at !== null) return `daily at ${daily_at} UTC`;
  return quiet_seconds === 0 || quiet_seconds === null
    ? 'immediately'
    : `after ${formatDuration(quiet_seconds)} without changes`;
}

type Mark = { readonly kind: 'done' | 'running' | 'waiting' | 'failed' | ''; readonly text: string };

const waits = {
  quiet: { kind: 'waiting', text: 'Waiting for the prefix to stop changing' },
  marker: { kind: 'waiting', text: 'Waiting for the marker' },
  schedule: { kind: 'waiting', text: 'Waiting for its scheduled time' },
  open_imports: { kind: 'waiting', text: 'Waiting for earlier imports to end' },
  quota: { kind: 'failed', text: 'Stopped: the stored data quota is reached' },
  too_many_objects: { kind: 'failed', text: 'The prefix has more objects than can be listed' },
} as const satisfies Record<NonNullable<Subscription['waits_for']>, Mark>;

export function stateOf({ status, waits_for }: Pick<Subscription, 'status' | 'waits_for'>): Mark {
  if (status === 'paused') return { kind: '', text: 'Paused' };
  return waits_for === null ? { kind: 'done', text: 'Active' } : waits[waits_for];
}

export const objectStates = {
  waiting: { kind: 'waiting', text: 'Waiting' },
  queued: { kind: 'running', text: 'In an import' },
  imported: { kind: 'done', text: 'Imported' },
  failed: { kind: 'failed', text: 'Failed' },
  overwritten: { kind: '', text: 'Overwritten before it was loaded' },
  deleted: { kind: '', text: 'Deleted before it was loaded' },
  skipped: { kind: '', text: 'Skipped, because it existed before the subscription' },
  marker: { kind: '', text: 'Marker' },
} as const satisfies Record<SubscriptionObject['state'], Mark>;

export const triggerKinds = [
  ['quiet_seconds', 'When nothing has changed for a while'],
  ['marker', 'When a marker is written'],
  ['every_seconds', 'At an interval'],
  ['daily_at', 'Daily at a time'],
] as const;

export type TriggerKind = (typeof triggerKinds)[number][0];

/** The input field for each trigger. */
export const triggerFields: Readonly<
  Record<TriggerKind, { readonly label: string; readonly hint: string; readonly value: string }>
> = {
  quiet_seconds: {
    label: 'Seconds without changes',
    hint: 'With 0, files are imported as soon as they are seen.',
    value: '10',
  },
  marker: {
    label: 'Marker name',
    hint: 'Write it after the files, into their folder or a parent folder.',
    value: '_SUCCESS',
  },
  every_seconds: { label: 'Seconds between imports', hint: 'From 60 to 604800, which is a week.', value: '3600' },
  daily_at: { label: 'Time (UTC)', hint: 'For example 02:30.', value: '02:30' },
};

export function toTrigger(kind: TriggerKind, value: string): NonNullable<CreateSubscription['trigger']> {
  return { [kind]: kind === 'quiet_seconds' || kind === 'every_seconds' ? Number(value) : value };
}

export function kindOf(trigger: Subscription['trigger']): TriggerKind {
  return triggerKinds.find(([kind]) => trigger[kind] !== null)?.[0] ?? 'quiet_seconds';
}
