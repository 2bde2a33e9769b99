import { bytesOf, durationOf } from './format.ts';
import type { Output } from './output.ts';
import { cutToWidth, textWidth } from './text.ts';

/** Lines at the end of a terminal that are drawn again in place. What is in them must be escapeTerminal and without colour. */
export type Live = {
  draw(lines: readonly string[]): void;
  /** Takes them away: what is said next stands in their place. */
  clear(): void;
};

export function live(stream: NodeJS.WriteStream): Live {
  let drawn = 0;
  const back = (): string => (drawn === 0 ? '' : `\x1b[${drawn}A\x1b[0J`);
  return {
    draw: (lines) => {
      // A line that wraps, or more lines than the screen has, could not be found again.
      const rows = lines.slice(0, Math.max(1, stream.rows - 2)).map((line) => cutToWidth(line, stream.columns - 1));
      stream.write(`${back()}${rows.map((row) => `${row}\n`).join('')}`);
      drawn = rows.length;
    },
    clear: () => {
      stream.write(back());
      drawn = 0;
    },
  };
}

/** The rate is that of the last seconds: long enough to be steady, short enough to show that something stands still. */
const windowMilliSeconds = 10_000;
/** In less than that, two looks say nothing. */
const leastMilliSeconds = 200;

/** How much comes a second, over the last ten seconds. */
export class Rate {
  readonly #now: () => number;
  #noted: { readonly at: number; readonly amount: number }[] = [];

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How much there is now. */
  note(amount: number): void {
    const at = this.#now();
    this.#noted.push({ at, amount });
    // The last one before the window stays: without it, slow work would have no rate.
    while ((this.#noted[1]?.at ?? at) <= at - windowMilliSeconds) this.#noted.shift();
  }

  /** Null as long as there is too little to tell. Falls while nothing is noted. */
  get perSecond(): number | null {
    const now = this.#now();
    const [first] = this.#noted;
    const last = this.#noted.at(-1);
    if (!first || !last || now - first.at < leastMilliSeconds) return null;
    return ((last.amount - first.amount) / (now - first.at)) * 1000;
  }
}

const shortestBar = 10;
const longestBar = 40;

/**
 * `a.csv  ███░░░   50 %  12 MB of 24 MB`: what is worked on, how far it is, and what else is known of it. As much as
 * fits: the bar gives way first, then what stands at the end.
 */
export function barLine(what: string, share: number, known: readonly string[], columns: number): string {
  const texts = [`${Math.floor(share * 100)} %`.padStart(5), ...known];
  const fitting = (): string => [what, ...texts].join('  ');
  while (texts.length > 1 && textWidth(fitting()) > columns) texts.pop();
  const length = Math.min(longestBar, columns - textWidth(fitting()) - 2);
  if (length < shortestBar) return fitting();
  const full = Math.floor(share * length);
  return [what, '█'.repeat(full) + '░'.repeat(length - full), ...texts].join('  ');
}

export type Bytes = {
  /** What is worked on; must be escapeTerminal. */
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
