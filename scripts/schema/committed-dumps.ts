/** Where the dumped schemas stand. CI compares them with what the migrations make. */
export const committedDumps = {
  postgres: 'migrations/postgres/schema.sql',
  clickhouse: 'migrations/clickhouse/schema.sql',
} as const;
