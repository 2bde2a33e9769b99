/** A number in [0, 1) that follows from the message and a key, and cannot be told without the key. */
export type Draw = (message: string) => number;

/** An integer that follows from what it is about. */
export type Noise = (about: readonly (string | number | null)[]) => number;

/**
 * Noise of at most ± `most` with the density cos²: of all shapes on an interval the one that tells least about a shift
 * by one (it minimises Fisher information). Its ends are nearly empty; uniform noise has ends that give certainty.
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
