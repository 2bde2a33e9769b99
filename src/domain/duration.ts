import { Failure } from './failure.ts';

const seconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

const longestDays = 3_650;

/** Converts `90d`, `12h`, `30m` or `45s` to seconds. Accepts more than zero and at most ten years. */
export function toSeconds(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const total = Number(count) * seconds[isUnit(unit) ? unit : 's'];
  if (total > 0 && total <= longestDays * seconds.d) return total;
  throw new Failure(
    'invalid_request',
    `"${text}" is not a valid duration. Use a number and a unit, for example 90d, 12h, 30m or 45s; at most ${longestDays}d.`,
  );
}

function isUnit(text: string | undefined): text is keyof typeof seconds {
  return text !== undefined && Object.hasOwn(seconds, text);
}
