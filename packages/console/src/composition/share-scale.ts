/**
 * A linear scale for shares, starting at 0. Positions are percentages of the width, so that plots need no measurement.
 */
export type ShareScale = { readonly ticks: readonly number[]; readonly position: (share: number) => string };

const steps = [1, 2, 2.5, 5, 10] as const;
const mostTicks = 5;

/** Rounds the largest share up to a readable tick. */
export function shareScale(shares: readonly (number | null | undefined)[]): ShareScale {
  const largest = Math.max(0.001, ...shares.map((share) => share ?? 0));
  const unit = 10 ** Math.floor(Math.log10(largest / mostTicks));
  const step = unit * (steps.find((of) => largest / (unit * of) <= mostTicks) ?? 10);
  const count = Math.ceil(largest / step - 1e-9);
  const end = Math.min(1, count * step);
  return {
    ticks: Array.from({ length: count + 1 }, (_, tick) => tick * step).filter((tick) => tick <= end + 1e-9),
    position: (share) => `${(Math.max(0, Math.min(1, share / end)) * 100).toFixed(2)}%`,
  };
}

/** The difference between two positions. */
export function widthBetween({ position }: ShareScale, low: number, high: number): string {
  return `${Math.max(0, Number.parseFloat(position(high)) - Number.parseFloat(position(low))).toFixed(2)}%`;
}
