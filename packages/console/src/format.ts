import { once } from './once.ts';

// Numbers, times, and sizes in the reader's language. The first formatter of a tab takes about 15 ms, because the
// browser loads the language data, so none is created before it is used.

const integers = once(() => new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 }));
const percents = once(
  () => new Intl.NumberFormat(undefined, { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 }),
);
const wholePercents = once(() => new Intl.NumberFormat(undefined, { style: 'percent' }));
const factors = once(() => new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 }));
const relative = once(() => new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }));
const exact = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }));
const days = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: 'long' }));
const clock = once(() => new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }));
const significant = once(() => new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 }));

export function formatCount(count: number | string): string {
  return integers().format(Number(count));
}

export function formatPercent(share: number): string {
  return percents().format(share);
}

export function formatWholePercent(share: number): string {
  return wholePercents().format(share);
}

/** `1.8×`, or `1.21×` if one decimal place would make the number look like `limit`. */
export function formatFactor(index: number, limit: number): string {
  const isNear = Math.round(index * 10) === Math.round(limit * 10);
  return `${isNear ? significant().format(index) : factors().format(index)}×`;
}

export function formatExactTime(iso: string): string {
  return exact().format(new Date(iso));
}

/** `9:04 PM` */
export function formatClock(ms: number): string {
  return clock().format(ms);
}

export function formatDay(iso: string): string {
  return days().format(new Date(iso));
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** `3 minutes ago`. The parameter `now` is for tests. */
export function formatRelativeTime(iso: string, now: number = Date.now()): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  const [unit, length] = units.find(([, of]) => Math.abs(seconds) >= of) ?? (['second', 1] as const);
  return relative().format(Math.trunc(seconds / length), unit);
}

/** `1 h 4 min`, `2 h`, `35 s` */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return inUnits(whole, [60, 'min'], [1, 's']);
  if (whole < 86_400) return inUnits(whole, [3_600, 'h'], [60, 'min']);
  return inUnits(whole, [86_400, 'd'], [3_600, 'h']);
}

type Unit = readonly [seconds: number, name: string];

function inUnits(seconds: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

const sizes = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(sizes.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${significant().format(value)} ${sizes[power] ?? 'B'}`;
}
