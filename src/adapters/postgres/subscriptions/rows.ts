import { type SubscriptionSettings, type Trigger, minuteOfDay, timeOfMinute } from '../../../domain/subscription.ts';
import { toKeyType } from '../lane/jobs.ts';

export type SettingsRow = {
  key_type: number;
  compressed: boolean;
  quiet_seconds: number | null;
  marker: string | null;
  every_seconds: number | null;
  daily_at: string | null;
};

type TriggerRow = Pick<SettingsRow, 'quiet_seconds' | 'marker' | 'every_seconds' | 'daily_at'>;

export function toSettings(row: SettingsRow): SubscriptionSettings {
  return {
    keyType: toKeyType(row.key_type),
    compressed: row.compressed,
    trigger: toTrigger(row),
  };
}

function toTrigger(row: TriggerRow): Trigger {
  if (row.marker !== null) return { on: 'marker', name: row.marker };
  if (row.every_seconds !== null) return { on: 'interval', seconds: row.every_seconds };
  if (row.daily_at !== null) return { on: 'daily', minute: minuteOfDay(row.daily_at) ?? 0 };
  return { on: 'quiet', seconds: row.quiet_seconds ?? 0 };
}

export function triggerRow(trigger: Trigger): TriggerRow {
  return {
    quiet_seconds: trigger.on === 'quiet' ? trigger.seconds : null,
    marker: trigger.on === 'marker' ? trigger.name : null,
    every_seconds: trigger.on === 'interval' ? trigger.seconds : null,
    daily_at: trigger.on === 'daily' ? timeOfMinute(trigger.minute) : null,
  };
}
