/** Inlet and its yardstick, one after the other in the same run, in seconds. */
export type Pair = { readonly inlet: number; readonly yardstick: number };

type Outcome = {
  readonly pairs: readonly Pair[];
  readonly rows: number;
  /** Other figures that belong to the run. */
  readonly notes?: readonly string[];
};

export type Bench = {
  readonly title: string;
  /** What `inlet` and `yardstick` are, and what the ratio should be. */
  readonly compares: string;
  readonly goal: string;
  readonly run: (say: (text: string) => void) => Promise<Outcome>;
};

export type Summary = {
  /** The median of the ratios, and the smallest and the largest. */
  readonly ratio: number;
  readonly spread: readonly [number, number];
  readonly inlet_seconds: number;
  readonly yardstick_seconds: number;
};

export function summarize(pairs: readonly Pair[]): Summary {
  const ratios = pairs.map(({ inlet, yardstick }) => inlet / yardstick).toSorted((a, b) => a - b);
  return {
    ratio: round(median(ratios)),
    spread: [round(ratios[0] ?? 0), round(ratios.at(-1) ?? 0)],
    inlet_seconds: round(median(pairs.map(({ inlet }) => inlet))),
    yardstick_seconds: round(median(pairs.map(({ yardstick }) => yardstick))),
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** Runs both alternately, the first of each as a warm-up that does not count. */
export async function alternate(
  times: number,
  say: (text: string) => void,
  run: { readonly inlet: (round: number) => Promise<number>; readonly yardstick: (round: number) => Promise<number> },
): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let time = 0; time <= times; time++) {
    const pair = { inlet: await run.inlet(time), yardstick: await run.yardstick(time) };
    say(
      `${time === 0 ? 'warm-up' : `${time}/${times}`}: inlet ${round(pair.inlet)} s, yardstick ${round(pair.yardstick)} s`,
    );
    if (time > 0) pairs.push(pair);
  }
  return pairs;
}

export async function secondsOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return (performance.now() - start) / 1000;
}
