/** Paths of the committed schema dumps. CI compares the dumps with the migrated schemas. */
export const committedDumps = {
  postgres: 'migrations/postgres/schema.sql',
  clickhouse: 'migrations/clickhouse/schema.sql',
} as const;
