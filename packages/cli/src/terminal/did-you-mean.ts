/** ` Did you mean "production"?`, or nothing: what is two mistakes away or less, the nearest first. */
export function didYouMean(word: string, known: readonly string[]): string {
  const [nearest] = known
    .map((name) => ({ name, distance: distance(word.toLowerCase(), name.toLowerCase()) }))
    .filter((one) => one.distance <= Math.min(2, Math.max(word.length, one.name.length) / 2))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest ? ` Did you mean "${nearest.name}"?` : '';
}

/** Letters to put in, take out or change (Levenshtein), row by row. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(from).entries()) {
    const next = [i + 1];
    for (let j = 1; j <= to.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (to[j - 1] === letter ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
