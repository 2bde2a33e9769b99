import { bytesOf, durationOf } from './format.ts';
import type { Output } from './output.ts';
import { cutToWidth, textWidth } from './text.ts';

/**
 * Lines at the bottom of a terminal that are redrawn in place. The lines must be escaped and must not contain colors.
 */
export type Live = {
  draw(lines: readonly string[]): void;
  /** Removes the lines. Later output replaces them. */
  clear(): void;
};

export function live(stream: NodeJS.WriteStream): Live {
  let drawn = 0;
  const back = (): string => (drawn === 0 ? '' : `\x1b[${drawn}A\x1b[0J`);
  return {
    draw: (lines) => {
      // The cursor cannot move up across wrapped lines or beyond the top of the screen.
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

/** Long enough for a stable rate and short enough to show that progress has stopped. */
const windowMs = 10_000;
/** Minimum interval between two samples. A shorter interval produces no meaningful rate. */
const minIntervalMs = 200;

/** Computes the rate per second over the last ten seconds. */
export class Rate {
  readonly #now: () => number;
  #samples: { readonly at: number; readonly amount: number }[] = [];

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Records the current amount. */
  note(amount: number): void {
    const at = this.#now();
    this.#samples.push({ at, amount });
    // Keep the last sample before the window, so that slow work also has a rate.
    while ((this.#samples[1]?.at ?? at) <= at - windowMs) this.#samples.shift();
  }

  /** Null until there are enough samples. The rate decreases while no amount is recorded. */
  get perSecond(): number | null {
    const now = this.#now();
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (!first || !last || now - first.at < minIntervalMs) return null;
    return ((last.amount - first.amount) / (now - first.at)) * 1000;
  }
}

const minBarWidth = 10;
const maxBarWidth = 40;

/**
 * Formats a line such as `a.csv ███░░░ 50 % 12 MB of 24 MB`, with the subject, the completed share, and details. If the
 * line does not fit, the bar shrinks first. Then details are dropped from the end.
 */
export function barLine(what: string, share: number, known: readonly string[], columns: number): string {
  const texts = [`${Math.floor(share * 100)} %`.padStart(5), ...known];
  const fitting = (): string => [what, ...texts].join('  ');
  while (texts.length > 1 && textWidth(fitting()) > columns) texts.pop();
  const length = Math.min(maxBarWidth, columns - textWidth(fitting()) - 2);
  if (length < minBarWidth) return fitting();
  const full = Math.floor(share * length);
  return [what, '█'.repeat(full) + '░'.repeat(length - full), ...texts].join('  ');
}

export type Bytes = {
  /** The name of what the bar measures. It must already be escaped. */
  readonly what: string;
  readonly done: number;
  readonly total: number;
  /** Skipped bytes that are included in `done`. They do not count toward the rate. */
  readonly skipped?: number;
};

export type ProgressBar = { show(bytes: Bytes): void; end(): void };

const drawIntervalMs = 100;
const refreshIntervalMs = 1_000;

/**
 * Draws one line with a bar, the rate, and the time left, at most ten times a second. Draws nothing without a terminal.
 */
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
    if (shown === null || now() - drawnAt < drawIntervalMs) return;
    drawnAt = now();
    lines.draw([progressLine(shown, rate.perSecond, stderr.columns - 1)]);
  };
  const timer = setInterval(draw, refreshIntervalMs).unref();
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
