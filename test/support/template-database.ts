/** Created once per run by `global-setup.ts`, with all migrations applied, in PostgreSQL and in ClickHouse. */
export const templateDatabase = 'inlet_test_template';
