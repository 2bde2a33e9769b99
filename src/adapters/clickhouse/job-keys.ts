import { ClickHouseError } from '@clickhouse/client';
import type { ResolvedKey } from '../../domain/attribute.ts';
import { Failure } from '../../domain/failure.ts';
import type { JobId } from '../../domain/ids.ts';
import { type Engine, type Server, isReplicated, onEveryServer, selectRows } from './connect.ts';
import { endOfKeys, keysMissing } from './row-rule-sql.ts';

/**
 * Writes the keys to every server, because every server can receive a load. Idempotent, because loads ignore duplicate
 * keys.
 */
export async function writeJobKeys(engine: Engine, jobId: JobId, keys: readonly ResolvedKey[]): Promise<void> {
  const values = [
    ...keys.map(({ key, attributeId }) => ({ job_id: jobId, key, attribute_id: attributeId })),
    { job_id: jobId, key: endOfKeys, attribute_id: keys.length },
  ];
  await onEveryServer(engine, (server) => server.insert({ table: 'job_keys_local', values, format: 'JSONEachRow' }));
}

/**
 * Runs `run`. If it fails because the server lacks the keys of the job, copies the keys to the server for the next
 * attempt, and throws.
 */
export async function copyingMissingKeys<T>(
  engine: Engine,
  receiver: Server,
  jobId: JobId,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.message.includes(keysMissing))) throw error;
    await copyKeys(engine, receiver, jobId);
    throw new Failure('replicas_behind', 'A server did not have the keys of the job. The load is tried again.', {
      cause: error,
    });
  }
}

/** A server lacks the keys if it was unavailable when they were written, or if the previous release wrote them. */
async function copyKeys(engine: Engine, receiver: Server, jobId: JobId): Promise<void> {
  const found = await onEveryServer(engine, (server) =>
    selectRows<{ key: string; attribute_id: string }>(
      server,
      'SELECT key, toString(attribute_id) AS attribute_id FROM job_keys_local WHERE job_id = {job: UInt64}',
      { job: jobId },
    ),
  );
  const keys = found.flat(2);
  // The previous release did not write `endOfKeys`. `replicateTables` adds this key when replicas are added.
  if (isReplicated(engine) && !keys.some(({ key }) => key === endOfKeys)) return;
  const values = [...keys, { key: endOfKeys, attribute_id: '0' }].map((row) => ({ job_id: jobId, ...row }));
  await receiver.insert({ table: 'job_keys_local', values, format: 'JSONEachRow' });
}
