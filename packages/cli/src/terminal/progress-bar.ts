import { live } from './live.ts';
import { bytesOf, durationOf } from './numbers.ts';
import type { Output } from './output.ts';
import { textWidth } from './text-width.ts';

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
/** The rate is that of the last seconds: long enough to be steady, short enough to show that something stands still. */
const windowMilliSeconds = 10_000;
const milliSecondsBetweenLooks = 1_000;

/** One line with a bar, rate and time left, drawn at most ten times a second; nothing where nobody looks. */
export function progressBar(
  { isLive, stderr }: Pick<Output, 'isLive' | 'stderr'>,
  now = (): number => performance.now(),
): ProgressBar {
  if (!isLive) return { show: () => {}, end: () => {} };
  const lines = live(stderr);
  const speed = new Speed();
  let shown: Bytes | null = null;
  let drawnAt = -Infinity;
  const draw = (): void => {
    if (shown === null || now() - drawnAt < milliSecondsBetweenDraws) return;
    drawnAt = now();
    lines.draw([progressLine(shown, speed.at(drawnAt), stderr.columns - 1)]);
  };
  const timer = setInterval(draw, milliSecondsBetweenLooks).unref();
  return {
    show: (bytes) => {
      shown = bytes;
      speed.note(now(), bytes.done - (bytes.skipped ?? 0));
      draw();
    },
    end: () => {
      clearInterval(timer);
      shown = null;
      lines.clear();
    },
  };
}

const shortestBar = 10;
const longestBar = 40;

/** As much as fits: the bar gives way first, then what stands at the end. */
export function progressLine({ what, done, total }: Bytes, perSecond: number | null, columns: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const isMoving = perSecond !== null && perSecond > 0;
  const texts = [
    `${Math.floor(share * 100)} %`.padStart(5),
    `${bytesOf(done)} of ${bytesOf(total)}`,
    ...(perSecond === null ? [] : [`${bytesOf(perSecond)}/s`]),
    ...(isMoving && done < total ? [`${durationOf((total - done) / perSecond)} left`] : []),
  ];
  const fitting = (): string => [what, ...texts].join('  ');
  while (texts.length > 1 && textWidth(fitting()) > columns) texts.pop();
  const length = Math.min(longestBar, columns - textWidth(fitting()) - 2);
  if (length < shortestBar) return fitting();
  const full = Math.floor(share * length);
  return [what, '█'.repeat(full) + '░'.repeat(length - full), ...texts].join('  ');
}

/** Bytes per second over the last seconds. */
class Speed {
  #noted: { readonly at: number; readonly bytes: number }[] = [];

  note(at: number, bytes: number): void {
    this.#noted.push({ at, bytes });
    while ((this.#noted[1]?.at ?? at) <= at - windowMilliSeconds) this.#noted.shift();
  }

  /** Null as long as there is too little to tell. */
  at(now: number): number | null {
    const [first] = this.#noted;
    const last = this.#noted.at(-1);
    if (!first || !last || now - first.at < 200) return null;
    return ((last.bytes - first.bytes) / (now - first.at)) * 1000;
  }
}
