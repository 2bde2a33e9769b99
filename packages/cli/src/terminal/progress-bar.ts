import { barLine } from './bar-line.ts';
import { live } from './live.ts';
import { bytesOf, durationOf } from './numbers.ts';
import type { Output } from './output.ts';
import { Rate } from './rate.ts';

export type Bytes = {
  /** What is worked on; must be harmless. */
  readonly what: string;
  readonly done: number;
  readonly total: number;
  /** Of those done, how many took no time: they say nothing about how long the others will. */
  readonly skipped?: number;
};

export type ProgressBar = { show(bytes: Bytes): void; end(): void };

const milliSecondsBetweenDraws = 100;
const milliSecondsBetweenLooks = 1_000;

/** One line with a bar, rate and time left, drawn at most ten times a second; nothing where nobody looks. */
export function progressBar(
  { isLive, stderr }: Pick<Output, 'isLive' | 'stderr'>,
  now = (): number => performance.now(),
): ProgressBar {
  if (!isLive) return { show: () => {}, end: () => {} };
  const lines = live(stderr);
  const rate = new Rate(now);
  let shown: Bytes | null = null;
  let drawnAt = -Infinity;
  const draw = (): void => {
    if (shown === null || now() - drawnAt < milliSecondsBetweenDraws) return;
    drawnAt = now();
    lines.draw([progressLine(shown, rate.perSecond, stderr.columns - 1)]);
  };
  const timer = setInterval(draw, milliSecondsBetweenLooks).unref();
  return {
    show: (bytes) => {
      shown = bytes;
      rate.note(bytes.done - (bytes.skipped ?? 0));
      draw();
    },
    end: () => {
      clearInterval(timer);
      shown = null;
      lines.clear();
    },
  };
}

export function progressLine({ what, done, total }: Bytes, perSecond: number | null, columns: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const isMoving = perSecond !== null && perSecond > 0;
  const known = [
    `${bytesOf(done)} of ${bytesOf(total)}`,
    ...(perSecond === null ? [] : [`${bytesOf(perSecond)}/s`]),
    ...(isMoving && done < total ? [`${durationOf((total - done) / perSecond)} left`] : []),
  ];
  return barLine(what, share, known, columns);
}
