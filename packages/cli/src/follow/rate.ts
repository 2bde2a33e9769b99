type Seen = { readonly at: number; readonly amount: number };

/** How much comes a second, over the last ten seconds; null until there are two looks. */
export function rateMeter(now: () => number = () => performance.now()): (amount: number) => number | null {
  const lookBackMs = 10_000;
  let seen: Seen[] = [];
  return (amount) => {
    const at = now();
    // The last one before the span stays: without it, slow work would have no rate.
    const old = seen.findLastIndex((one) => at - one.at > lookBackMs);
    seen = [...seen.slice(Math.max(0, old)), { at, amount }];
    const first = seen[0];
    if (!first || at === first.at || amount <= first.amount) return null;
    return ((amount - first.amount) * 1000) / (at - first.at);
  };
}
