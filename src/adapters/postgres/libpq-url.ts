/**
 * Changes the parameters of a PostgreSQL URL so that the driver and libpq read them in the same way. `URLSearchParams`
 * writes a space as `+`, which libpq does not decode.
 */
export function withParameters(url: string, change: (parameters: URLSearchParams) => void): URL {
  const changed = new URL(url);
  change(changed.searchParams);
  changed.search = changed.search.replaceAll('+', '%20');
  return changed;
}
