/** Derives a number in [0, 1) from a message and a secret key. */
export type Draw = (message: string) => number;

/** Derives an integer from its context. */
export type Noise = (about: readonly (string | number | null)[]) => number;

/**
 * Noise within ± `most` with density cos². Of all densities on an interval, it reveals least about a shift by one (it
 * minimizes Fisher information). Extreme values are rare; those of uniform noise would reveal the exact count.
 */
export function cosSquaredNoise(draw: Draw, most: number): Noise {
  if (most === 0) return () => 0;
  const cumulative: number[] = [];
  let sum = 0;
  for (let value = -most; value <= most; value += 1) {
    sum += Math.cos((Math.PI * value) / (2 * (most + 1))) ** 2 / (most + 1);
    cumulative.push(sum);
  }
  return (about) => {
    const drawn = draw(JSON.stringify(about));
    const place = cumulative.findIndex((bound) => drawn < bound);
    return (place < 0 ? cumulative.length - 1 : place) - most;
  };
}
