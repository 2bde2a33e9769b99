/** For each connection PostgreSQL keeps a plan of each: lists of many lengths must not fill its memory. */
const mostNames = 200;
const names = new Map<string, string>();

/**
 * A name under which a connection keeps the plan of a statement, so that it is planned once and not with every request:
 * planning takes longer than most of our statements. Undefined for what is to be planned each time. That is what has a
 * LIMIT: the best way through a list depends on whose it is, and a plan for anybody may walk through everybody's rows.
 */
export function preparedName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= mostNames || !/^\s*(?:select|insert|update|with)\b/i.test(text) || /\blimit\b/i.test(text))
    return undefined;
  const name = `inlet_${names.size + 1}`;
  names.set(text, name);
  return name;
}

/** After a migration changed what a statement returns, its plan is of no use any more; the connection has to be closed. */
export function isOutdatedPlan(error: unknown): boolean {
  return error instanceof Error && error.message === 'cached plan must not change result type';
}
