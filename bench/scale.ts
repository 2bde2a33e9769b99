// oxlint-disable-next-line node/no-process-env -- the only variable that the benchmarks read
const given = Number(process.env['INLET_BENCH_SCALE'] ?? 1);
if (!(given > 0)) throw new Error('INLET_BENCH_SCALE must be a number greater than 0');

/** Only full-size results are recorded. Use other sizes to try out a benchmark. */
export const isFullSize = given === 1;

export function scaled(rows: number): number {
  return Math.max(1, Math.round(rows * given));
}
