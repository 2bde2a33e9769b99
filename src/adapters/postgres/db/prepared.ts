/** PostgreSQL keeps a plan per connection and name. Lists of many lengths must not fill its memory. */
const maxNames = 200;
const names = new Map<string, string>();

/**
 * Returns a name under which a connection caches the statement's plan, because planning most of our statements takes
 * longer than running them. Returns undefined for a statement that must be planned each time, such as one with LIMIT.
 * The best plan for such a statement depends on the partner, and a generic plan may scan every partner's rows.
 */
export function preparedName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= maxNames || !/^\s*(?:select|insert|update|with)\b/i.test(text) || /\blimit\b/i.test(text))
    return undefined;
  const name = `inlet_${names.size + 1}`;
  names.set(text, name);
  return name;
}

/** A migration changed the statement's result type. The plan is unusable, and the connection must be closed. */
export function isOutdatedPlan(error: unknown): boolean {
  return error instanceof Error && error.message === 'cached plan must not change result type';
}
