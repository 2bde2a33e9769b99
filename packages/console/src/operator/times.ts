import { formatDuration } from '../format.ts';

/** A waiting time, such as `12 min` or `1 h 4 min`. After the first minute, seconds are omitted. */
export function formatAge(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return whole >= 60 && whole < 3_600 ? `${Math.floor(whole / 60)} min` : formatDuration(whole);
}

/** The age of a time, by the clock of the API. */
export function ageOf(iso: string, now: number): string {
  return formatAge((now - Date.parse(iso)) / 1000);
}

/** `9:04 PM`; with seconds if the style is `medium`. */
export function formatTimeOfDay(iso: string, timeStyle: 'short' | 'medium' = 'short'): string {
  return new Intl.DateTimeFormat(undefined, { timeStyle }).format(new Date(iso));
}
