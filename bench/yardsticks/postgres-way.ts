import { createWriteStream } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Client } from 'pg';
import { withDatabase } from '../../test/support/stores.ts';
import { secondsOf } from '../bench.ts';
import type { Running } from '../service.ts';
import { openObject } from './get-object.ts';

export type PostgresWay = { readonly prepare: () => Promise<void>; readonly append: () => Promise<number> };

/**
 * Runs COPY into an unlogged table, then INSERT … ON CONFLICT DO NOTHING into a table with a unique index. The server
 * reads uncompressed files from its own disk, so that only PostgreSQL is measured.
 */
export async function withPostgresWay<T>(
  running: Running,
  paths: { readonly base: string; readonly added: string },
  expectedRows: number,
  run: (way: PostgresWay) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'inlet-bench-'));
  await chmod(directory, 0o755); // the server runs as another user
  try {
    const base = await unpack(running, paths.base, join(directory, 'base.csv'));
    const added = await unpack(running, paths.added, join(directory, 'added.csv'));
    return await withDatabase(running.stores, async (client) => {
      await client.query('CREATE SCHEMA bench');
      await client.query('CREATE UNLOGGED TABLE bench.base (device uuid NOT NULL, event text NOT NULL)');
      await copy(client, 'base', base);
      return run({ prepare: () => fill(client), append: () => append(client, added, expectedRows) });
    });
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function unpack({ partner }: Running, path: string, file: string): Promise<string> {
  await pipeline(await openObject(partner, path), createGunzip(), createWriteStream(file, { mode: 0o644 }));
  return file;
}

async function copy(client: Client, table: 'base' | 'staging', file: string): Promise<void> {
  // Empty events must not become NULL, because NULLs do not conflict in the index.
  await client.query(`COPY bench.${table} FROM '${file}' (FORMAT csv, FORCE_NOT_NULL (event))`);
}

/** Restores the same members before each round, with a fresh index and a checkpoint. */
async function fill(client: Client): Promise<void> {
  await client.query(`
    DROP TABLE IF EXISTS bench.member;
    CREATE TABLE bench.member (audience_id bigint NOT NULL, device uuid NOT NULL, event text NOT NULL);
    INSERT INTO bench.member SELECT 1, device, event FROM bench.base;
    CREATE UNIQUE INDEX ON bench.member (audience_id, device, event)`);
  await client.query('VACUUM ANALYZE bench.member');
  await client.query('CHECKPOINT');
}

async function append(client: Client, file: string, expectedRows: number): Promise<number> {
  const seconds = await secondsOf(async () => {
    await client.query('CREATE UNLOGGED TABLE bench.staging (device uuid NOT NULL, event text NOT NULL)');
    await copy(client, 'staging', file);
    await client.query('INSERT INTO bench.member SELECT 1, device, event FROM bench.staging ON CONFLICT DO NOTHING');
    await client.query('DROP TABLE bench.staging');
  });
  const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM bench.member');
  if (Number(rows[0]?.count) !== expectedRows) throw new Error(`${rows[0]?.count} rows in PostgreSQL`);
  return seconds;
}
