/** A measurement of Inlet and a measurement of its yardstick, taken one after the other. */
export type Pair = { readonly inlet: number; readonly yardstick: number };

export type Point = { readonly x: number; readonly y: number };
export type Series = { readonly name: string; readonly points: readonly Point[] };

type Outcome = {
  readonly pairs: readonly Pair[];
  readonly rows: number;
  /** Additional figures from the run. */
  readonly notes?: readonly string[];
  /** The data that `npm run bench:plots` draws. */
  readonly series?: readonly Series[];
  /** Whether the result meets a goal that is stated in words. */
  readonly isReached?: boolean;
};

export type Bench = {
  readonly title: string;
  /** Describes `inlet` and `yardstick`. */
  readonly compares: string;
  /** `lower`: the ratio is Inlet ÷ yardstick. `higher`: the ratio is yardstick ÷ Inlet, the speedup. */
  readonly better?: 'lower' | 'higher';
  readonly unit?: 'seconds' | 'mebibytes';
  /** A bound on the ratio, or a goal in words. */
  readonly goal?: number | string;
  readonly run: (printLine: (text: string) => void) => Promise<Outcome>;
};

export type Summary = {
  /** The median of the ratios. `spread` contains the minimum and the maximum. */
  readonly ratio: number;
  readonly spread: readonly [number, number];
  /** Medians, in the benchmark's unit. */
  readonly inlet: number;
  readonly yardstick: number;
  readonly goal: string | null;
  readonly reached: boolean | null;
};

export function summarize(bench: Bench, { pairs, isReached }: Outcome): Summary {
  const isHigherBetter = bench.better === 'higher';
  const ratios = pairs
    .map(({ inlet, yardstick }) => (isHigherBetter ? yardstick / inlet : inlet / yardstick))
    .toSorted((a, b) => a - b);
  return {
    ratio: round(median(ratios)),
    spread: [round(ratios[0] ?? 0), round(ratios.at(-1) ?? 0)],
    inlet: round(median(pairs.map(({ inlet }) => inlet))),
    yardstick: round(median(pairs.map(({ yardstick }) => yardstick))),
    ...evaluateGoal(bench, median(ratios), isReached),
  };
}

function evaluateGoal({ goal, better }: Bench, ratio: number, isReached = false): Pick<Summary, 'goal' | 'reached'> {
  if (goal === undefined) return { goal: null, reached: null };
  if (typeof goal === 'string') return { goal, reached: isReached };
  return better === 'higher'
    ? { goal: `≥ ${goal}`, reached: ratio >= goal }
    : { goal: `≤ ${goal}`, reached: ratio <= goal };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

type Side = (round: number) => Promise<number>;

/** Runs both sides alternately. Round 0 is a warm-up and is discarded. */
export async function alternate(
  times: number,
  printLine: (text: string) => void,
  run: { readonly inlet: Side; readonly yardstick: Side },
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let time = 0; time <= times; time++) {
    const pair = { inlet: await run.inlet(time), yardstick: await run.yardstick(time) };
    const name = time === 0 ? 'warm-up' : `${time}/${times}`;
    printLine(`${name}: inlet ${round(pair.inlet)}, yardstick ${round(pair.yardstick)}`);
    if (time > 0) pairs.push(pair);
  }
  return pairs;
}

export async function secondsOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return (performance.now() - start) / 1000;
}
