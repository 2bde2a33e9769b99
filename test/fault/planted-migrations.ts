import { readdirSync } from 'node:fs';

/**
 * An additive migration for each store, keyed by path. The tests plant it, because the last commit might not contain a
 * migration.
 */
export function plantedMigrations(): ReadonlyMap<string, string> {
  return new Map([
    [
      `migrations/postgres/${nextNumber('postgres')}-planted.sql`,
      `CREATE TABLE IF NOT EXISTS planted (id bigint PRIMARY KEY, note text);
ALTER TABLE partner ADD COLUMN IF NOT EXISTS planted text;
ALTER TABLE job ADD COLUMN IF NOT EXISTS planted bigint;
ALTER TABLE job_file ADD COLUMN IF NOT EXISTS planted boolean NOT NULL DEFAULT false;
ALTER TABLE audience ADD COLUMN IF NOT EXISTS planted jsonb;
`,
    ],
    [
      `migrations/clickhouse/${nextNumber('clickhouse')}-planted.sql`,
      `CREATE TABLE IF NOT EXISTS planted_local (id UInt64) ENGINE = MergeTree ORDER BY id;
ALTER TABLE load_counts_local ADD COLUMN IF NOT EXISTS planted UInt64 DEFAULT 0;
ALTER TABLE load_counts ADD COLUMN IF NOT EXISTS planted UInt64 DEFAULT 0;
`,
    ],
  ]);
}

function nextNumber(store: string): string {
  const count = readdirSync(`migrations/${store}`).filter((name) => /^\d{4}-/.test(name)).length;
  return String(count + 1).padStart(4, '0');
}
