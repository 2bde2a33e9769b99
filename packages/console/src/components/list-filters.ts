/** The filters of a list as they appear in the address of the page. An absent filter does not restrict the list. */
export type Filters = Readonly<Record<string, string>>;

/** The filter names in the address and the corresponding names in the API. */
const apiNames: Readonly<Record<string, string>> = {
  status: 'status',
  type: 'log_type',
  path: 'path',
  name: 'name',
  code: 'code',
  file: 'file',
};

/** Returns the known filters of an address. Ignores everything else, for example a hand-written status. */
export function readFilters(query: Filters, names: readonly string[]): Filters {
  const given = names.flatMap((name) => {
    const value = query[name] ?? '';
    return isValid(name, value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given);
}

function isValid(name: string, value: string): boolean {
  if (name === 'status') return /^[0-3](,[0-3])*$/.test(value);
  if (name === 'type') return /^[01]$/.test(value);
  if (name === 'from' || name === 'to') return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(startOfDay(value));
  return value !== '';
}

/** The query parameters of the API. Days are in the reader's time zone, and the last day is included. */
export function apiQuery(filters: Filters): Filters {
  const { from, to, ...others } = filters;
  const named = Object.entries(others).flatMap(([name, value]) => {
    const apiName = apiNames[name];
    return apiName === undefined ? [] : [[apiName, value] as const];
  });
  return {
    ...Object.fromEntries(named),
    ...(from === undefined ? {} : { created_from: new Date(startOfDay(from)).toISOString() }),
    ...(to === undefined ? {} : { created_to: new Date(startOfDay(to, 1)).toISOString() }),
  };
}

function startOfDay(day: string, later = 0): number {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  return new Date(year, month - 1, date + later).getTime();
}

/** The address of a page with filters. An empty value removes its filter. */
export function addressOf(path: string, filters: Filters): string {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''));
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
