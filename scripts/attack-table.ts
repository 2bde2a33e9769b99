// Prints the table in docs/composition.md, which shows how often an optimal attacker guesses correctly whether one
// device is present. The number of reports is 100 unless an argument overrides it. The table covers several noise
// shapes on ±15 and several rounding steps. The attacker knows the count without that device, and chooses the count at
// which rounding reveals the most. Log-likelihoods are stored on a grid. Outcomes that prove the answer are counted
// separately.

const bound = 15;
const shapes: Readonly<Record<string, (value: number) => number>> = {
  uniform: () => 1,
  triangular: (value) => bound + 1 - Math.abs(value),
  'cos²': (value) => Math.cos((Math.PI * value) / (2 * (bound + 1))) ** 2,
  cos: (value) => Math.cos((Math.PI * value) / (2 * (bound + 1))),
};
const steps = [1, 10, 20, 25, 32, 50];
const cell = 0.02;
const reach = 1000;
const cells = 2 * reach + 1;

/** The probability of each published number. */
function distributionOf(count: number, shape: (value: number) => number, step: number): Map<number, number> {
  const values = Array.from({ length: 2 * bound + 1 }, (_, n) => n - bound);
  const total = values.reduce((sum, value) => sum + shape(value), 0);
  const probabilities = new Map<number, number>();
  for (const value of values) {
    const shown = Math.floor((count + value) / step);
    probabilities.set(shown, (probabilities.get(shown) ?? 0) + shape(value) / total);
  }
  return probabilities;
}

function convolve(a: Float64Array, b: Float64Array): Float64Array {
  const sum = new Float64Array(cells);
  const indexes = [...b.keys()].filter((index) => (b[index] ?? 0) > 1e-15);
  for (const [i, p] of a.entries()) {
    if (p < 1e-15) continue;
    for (const j of indexes) {
      const index = Math.max(0, Math.min(cells - 1, i + j - reach));
      sum[index] = (sum[index] ?? 0) + p * (b[j] ?? 0);
    }
  }
  return sum;
}

function repeat(once: Float64Array, times: number): Float64Array {
  if (times === 1) return once;
  const half = repeat(once, Math.floor(times / 2));
  const even = convolve(half, half);
  return times % 2 === 0 ? even : convolve(even, once);
}

function successAt(base: number, shape: (value: number) => number, step: number, reports: number): number {
  const [without, withDevice] = [distributionOf(base, shape, step), distributionOf(base + 1, shape, step)];
  const [one, other] = [new Float64Array(cells), new Float64Array(cells)];
  for (const [shown, p] of without) {
    const q = withDevice.get(shown);
    if (q === undefined) continue; // certain
    const index = reach + Math.max(-reach, Math.min(reach, Math.round(Math.log(q / p) / cell)));
    one[index] = (one[index] ?? 0) + p;
    other[index] = (other[index] ?? 0) + q;
  }
  const [all, allOther] = [repeat(one, reports), repeat(other, reports)];
  const decided = all.reduce((sum, p, index) => sum + Math.max(p, allOther[index] ?? 0), 0);
  const uncertain = all.reduce((sum, p, index) => sum + p + (allOther[index] ?? 0), 0);
  return (decided + 2 - uncertain) / 2;
}

const reports = Number(process.argv[2] ?? 100);
process.stdout.write(`| ${reports} reports | ${steps.map((step) => `step ${step}`).join(' | ')} |\n`);
for (const [name, shape] of Object.entries(shapes)) {
  const best = steps.map((step) =>
    Math.max(...Array.from({ length: step }, (_, offset) => successAt(1000 * step + offset, shape, step, reports))),
  );
  process.stdout.write(`| ${name} | ${best.map((success) => `${(100 * success).toFixed(1)} %`).join(' | ')} |\n`);
}
