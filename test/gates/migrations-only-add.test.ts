import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contractSteps } from './migration-rules.ts';
import { pathInRepository } from './tree-copy.ts';

const stores = ['postgres', 'clickhouse'] as const;

/** Earlier migrations predate rolling deployments. */
const lastWithoutRule = { postgres: 3, clickhouse: 3 } as const;

function migrationsOf(store: (typeof stores)[number]): string[] {
  return readdirSync(pathInRepository(`migrations/${store}`)).filter((name) => /^\d{4}-/.test(name));
}

describe('the migration rules', () => {
  it.each(stores)('finds no %s migration that breaks the previous release', (store) => {
    const names = migrationsOf(store);
    expect(names.length).toBeGreaterThanOrEqual(lastWithoutRule[store]);
    const bound = names.filter((name) => Number(name.slice(0, 4)) > lastWithoutRule[store]);
    const found = bound.flatMap((name) =>
      contractSteps(store, readFileSync(pathInRepository(`migrations/${store}/${name}`), 'utf8')).map(
        (step) => `${name} ${step}`,
      ),
    );
    expect(found).toEqual([]);
  });

  const rejected: ['postgres' | 'clickhouse', string][] = [
    ['postgres', 'ALTER TABLE job DROP COLUMN IF EXISTS kind;'],
    ['postgres', 'DROP TABLE IF EXISTS sweep;'],
    ['postgres', 'ALTER TABLE job RENAME COLUMN kind TO sort;'],
    ['postgres', 'ALTER TABLE job RENAME TO work;'],
    ['postgres', 'ALTER TABLE job ALTER COLUMN seq TYPE integer;'],
    ['postgres', 'ALTER TABLE job ALTER seq SET DATA TYPE integer;'],
    ['postgres', 'ALTER TABLE job ALTER COLUMN failure_code SET NOT NULL;'],
    ['postgres', 'ALTER TABLE job ALTER COLUMN status DROP DEFAULT;'],
    ['postgres', 'ALTER TABLE job ADD COLUMN IF NOT EXISTS color text NOT NULL;'],
    ['postgres', 'ALTER TABLE job ADD COLUMN a text DEFAULT 0, ADD COLUMN b text NOT NULL;'],
    ['postgres', 'ALTER TABLE job\n  ADD CONSTRAINT small CHECK (seq < 10);'],
    ['postgres', 'CREATE UNIQUE INDEX one ON job (kind);'],
    ['postgres', '-- No longer needed.\nCREATE TABLE fine (id bigint);\nDROP TABLE sweep;'],
    ['postgres', 'TRUNCATE sweep;'],
    ['clickhouse', 'ALTER TABLE load_counts_local ${on_cluster} DROP COLUMN bytes;'],
    ['clickhouse', 'ALTER TABLE load_counts_local MODIFY COLUMN bytes UInt32;'],
    ['clickhouse', 'RENAME TABLE load_counts TO counts;'],
    ['clickhouse', 'ALTER TABLE device_attributes_local ${on_cluster}\n  ADD COLUMN IF NOT EXISTS source UInt8;'],
    ['clickhouse', 'DROP VIEW judged_lines_to_load_counts;'],
  ];
  it.each(rejected)('rejects a %s migration that breaks the previous release: %s', (store, text) => {
    expect(contractSteps(store, text)).toHaveLength(1);
    const statement = text.split(/;\s*\n/).at(-1) ?? '';
    const reason = '-- contract, safe from 0.3.0 on: nothing has read it since 0.2.0\n';
    expect(
      contractSteps(
        store,
        text.replace(statement, () => reason + statement),
      ),
    ).toEqual([]);
  });

  const accepted: ['postgres' | 'clickhouse', string][] = [
    ['postgres', 'CREATE TABLE IF NOT EXISTS note (id bigint PRIMARY KEY, name text NOT NULL UNIQUE);'],
    ['postgres', 'ALTER TABLE job ADD COLUMN IF NOT EXISTS color text;'],
    ['postgres', 'ALTER TABLE job ADD COLUMN IF NOT EXISTS color text NOT NULL DEFAULT 0;'],
    ['postgres', 'ALTER TABLE job ADD COLUMN a bigint DEFAULT 0 NOT NULL, ADD COLUMN b text;'],
    ['postgres', 'CREATE INDEX IF NOT EXISTS job_color ON job (color);'],
    ['postgres', '-- DROP TABLE would be too early.\nALTER TABLE job DROP CONSTRAINT job_kind_check;'],
    ['postgres', 'CREATE TRIGGER t BEFORE DELETE OR TRUNCATE ON job EXECUTE FUNCTION refuse();'],
    ['clickhouse', 'ALTER TABLE load_counts_local ADD COLUMN IF NOT EXISTS color UInt8 DEFAULT 0;'],
    ['clickhouse', 'ALTER TABLE known_devices_local MODIFY COLUMN device CODEC(LZ4);'],
    ['clickhouse', 'ALTER TABLE audience_devices_local MODIFY SETTING merge_selector_base = 8;'],
  ];
  it.each(accepted)('accepts a %s migration that the previous release can use: %s', (store, text) => {
    expect(contractSteps(store, text)).toEqual([]);
  });
});
