import type { Database } from './db/tables.ts';

/** Returns the recorded ID of the shared bucket, or null if none is recorded. */
export async function readRecordedBucket(db: Database): Promise<string | null> {
  const row = await db.selectFrom('source_bucket').select('identity').limit(1).executeTakeFirst();
  return row?.identity ?? null;
}

export async function recordBucket(db: Database, identity: string): Promise<void> {
  await db.insertInto('source_bucket').values({ identity }).execute();
}
