/** A condition in a statement that excludes other tenants' rows. */
export type TenantFilter = { readonly statement: string; readonly at: number; readonly condition: string };

const column = String.raw`(?:"?\w+"?\.)?"?partner_id"?`;
const filters = new RegExp(
  [
    String.raw`${column} = \$\d+`,
    // Relates a job to earlier jobs of its partner.
    String.raw`${column} = ${column}`,
    String.raw`(?:audience|event)\.customer_id (?:IS NULL|= \$\d+)`,
    // Matches a filter on the partner's own row.
    String.raw`(?<=(?:from|update) "partner"[^()]* where )"id" = \$\d+`,
  ].join('|'),
  'g',
);

export function tenantFiltersOf(statement: string): TenantFilter[] {
  return Array.from(statement.matchAll(filters), ({ index, 0: condition }) => ({ statement, at: index, condition }));
}

/** Replaces the filter in the statement with a condition that is always true and uses the same parameter. */
export function withoutFilter({ statement, at, condition }: TenantFilter): string {
  const parameter = /\$\d+/.exec(condition)?.[0];
  const always = parameter === undefined ? 'true' : `${parameter}::bigint IS NOT DISTINCT FROM ${parameter}::bigint`;
  return `${statement.slice(0, at)}${always}${statement.slice(at + condition.length)}`;
}
