/** Derives a number in [0, 1) from a message and a secret key. */
export type Draw = (message: string) => number;

/** Derives an integer from the values that identify a count. */
export type Noise = (about: readonly (string | number | null)[]) => number;

/**
 * Noise within ± `bound` with density cos². Of all densities on an interval, cos² minimizes Fisher information, so it
 * reveals the least about whether a count differs by one. Extreme values are rare. With uniform noise, an extreme value
 * would reveal the exact count.
 */
export function cosSquaredNoise(draw: Draw, bound: number): Noise {
  if (bound === 0) return () => 0;
  const cumulative: number[] = [];
  let sum = 0;
  for (let value = -bound; value <= bound; value += 1) {
    sum += Math.cos((Math.PI * value) / (2 * (bound + 1))) ** 2 / (bound + 1);
    cumulative.push(sum);
  }
  return (about) => {
    const drawn = draw(JSON.stringify(about));
    const index = cumulative.findIndex((upper) => drawn < upper);
    return (index < 0 ? cumulative.length - 1 : index) - bound;
  };
}
