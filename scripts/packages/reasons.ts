export type Reason = { readonly job: string; readonly why: string };

/** Returns the rows of a table in docs/dependencies.md by package. A row can cover several packages. */
export function reasonsIn(page: string, heading: string): Map<string, Reason> {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.flatMap((row) => {
      const [, names = '', job = '', why = ''] = row.split('|').map((cell) => cell.trim());
      return [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']): [string, Reason] => [name, { job, why }]);
    }),
  );
}
