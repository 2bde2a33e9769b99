/** Paths of the dumped schemas. CI compares them with the migrated schemas. */
export const committedDumps = {
  postgres: 'migrations/postgres/schema.sql',
  clickhouse: 'migrations/clickhouse/schema.sql',
} as const;
