import { parseAddress } from '../../domain/ip-address.ts';

/** So many addresses are counted at a time; whoever has more of them than this is not stopped by counting addresses. */
const mostAddresses = 10_000;

export type WrongKeyCounts = {
  readonly note: (address: string) => void;
  /** Seconds until the address may try again; null when it may now. */
  readonly secondsToWait: (address: string) => number | null;
};

/** Counts per address in windows, in this process alone. When there are too many, the one goes that was quiet for longest. */
export function countWrongKeys(most: number, windowSeconds: number, now = () => performance.now()): WrongKeyCounts {
  const counts = new Map<string, number>();
  let endsAt = 0;

  function beginWindow(): void {
    if (now() < endsAt) return;
    endsAt = now() + windowSeconds * 1000;
    counts.clear();
  }

  return {
    note: (address) => {
      beginWindow();
      const network = networkOf(address);
      const count = (counts.get(network) ?? 0) + 1;
      counts.delete(network);
      counts.set(network, count);
      const [oldest] = counts.keys();
      if (counts.size > mostAddresses && oldest !== undefined) counts.delete(oldest);
    },
    secondsToWait: (address) => {
      beginWindow();
      if ((counts.get(networkOf(address)) ?? 0) < most) return null;
      return Math.max(1, Math.ceil((endsAt - now()) / 1000));
    },
  };
}

/** Whoever has one address of IPv6 has 2^64 of them: the first half counts. One of IPv4 is told from them by its beginning. */
function networkOf(text: string): string {
  const address = parseAddress(text);
  if (address === null) return 'unknown';
  const high = address >> 64n;
  return high === 0n ? String(address) : `${high}/64`;
}
