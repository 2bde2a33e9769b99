/**
 * The template database in PostgreSQL and ClickHouse. `global-setup.ts` creates it once per run with all migrations.
 */
export const templateDatabase = 'inlet_test_template';
