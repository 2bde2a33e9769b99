import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { clickhouseSuppressionList } from '../adapters/clickhouse/suppression-list.ts';
import { underMigrationLock } from '../adapters/postgres/db/migration-lock.ts';
import { postgresSuppressionRecords } from '../adapters/postgres/suppression-records.ts';
import { hashOfDevice } from '../adapters/vault/device-hash.ts';
import { Failure } from '../domain/failure.ts';
import { entryTextOf, layoutOfFirstLine, maxSuppressedHashes, readSuppressionEntry } from '../domain/suppression.ts';
import {
  type SuppressionDeps,
  type SuppressionStatus,
  changeSuppression,
  readSuppressionStatus,
  syncSuppression,
} from '../usecases/admin/suppression.ts';
import { requireRecordedTopology } from '../usecases/admin/topology.ts';
import type { CycleSuppression } from '../ports/drop.ts';
import type { RecordedList } from '../ports/suppression.ts';
import { type Config, readConfig } from './config.ts';
import { withTopology } from './connect-engine.ts';
import { createLogger } from './logging.ts';
import { operatorName } from './operator-name.ts';

type Change = { readonly isRemoval: boolean };

/** Adds the IDs or hashes to the list or removes them. */
export async function changeEntries(
  entries: readonly string[],
  { isRemoval }: Change,
  config: Config = readConfig(),
): Promise<RecordedList> {
  const hashes = entries.map((text, index) => hashOfEntry(text, `Entry ${index + 1}`));
  return change(config, (deps) =>
    changeSuppression(deps, { isRemoval, hashes: oneByOne(hashes), actor: operatorName() }),
  );
}

/** Adds the entries of a file to the list or removes them. Reads the whole file before it changes the list. */
export async function changeFile(
  path: string,
  { isRemoval }: Change,
  config: Config = readConfig(),
): Promise<RecordedList> {
  let entries = 0;
  for await (const hash of hashesIn(path)) entries += hash === '' ? 0 : 1;
  if (entries === 0) throw invalid('The file has no entries.');
  if (entries > maxSuppressedHashes) throw invalid(`The file has more than ${maxSuppressedHashes} entries.`);
  return change(config, (deps) =>
    changeSuppression(deps, { isRemoval, hashes: hashesIn(path), actor: operatorName() }),
  );
}

/** Gives every server the recorded list. */
export async function syncList(config: Config = readConfig()): Promise<RecordedList> {
  return change(config, (deps) => syncSuppression(deps, operatorName()));
}

/** Gives the recorded list to servers that were added or restored. Without it, their loads would wait. */
export async function syncUsedList(config: Config): Promise<void> {
  const { version } = await withList(config, ({ records }) => records.read());
  if (version > 0) await syncList(config);
}

export async function suppressionStatus(config: Config = readConfig()): Promise<SuppressionStatus> {
  return withList(config, readSuppressionStatus);
}

/** Counts the stored devices that are on the list, on each shard. */
export async function countMatches(config: Config = readConfig()): Promise<readonly number[]> {
  return withList(config, async ({ records, engine }) => {
    const { version, hashes } = await records.read();
    return hashes === 0 ? [] : engine.countMatches(version);
  });
}

/** Two concurrent changes would not see each other's hashes. A backup must not see half of a change. */
async function change<T>(config: Config, run: (deps: SuppressionDeps) => Promise<T>): Promise<T> {
  return underMigrationLock(config.INLET_POSTGRES_URL, () => withList(config, run));
}

async function withList<T>(config: Config, run: (deps: SuppressionDeps) => Promise<T>): Promise<T> {
  const log = createLogger({ name: 'inlet-suppression', level: 'silent' });
  return withTopology(config, log, async ({ db, engine, ...topology }) => {
    await requireRecordedTopology(topology);
    return run({ records: postgresSuppressionRecords(db), engine: clickhouseSuppressionList(engine) });
  });
}

async function* oneByOne(hashes: readonly string[]): AsyncGenerator<string> {
  for (const hash of hashes) yield await Promise.resolve(hash);
}

async function* hashesIn(path: string): AsyncGenerator<string> {
  const input = createReadStream(path, 'utf8');
  // Without this listener, an error before the first line would be thrown as an uncaught exception.
  const failed = new Promise<never>((_resolve, reject) => input.once('error', reject));
  failed.catch(() => undefined);
  let [layout, row]: [ReturnType<typeof layoutOfFirstLine> | null, number] = [null, 0];
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    row += 1;
    if (layout === null) {
      layout = layoutOfFirstLine(line);
      if (layout === 'drop') continue;
    }
    const text = entryTextOf(line, layout);
    if (text !== null) yield hashOfEntry(text, `Line ${row}`);
  }
  if (input.errored) await failed;
}

/** The operations on the suppression list that a DROP cycle needs. */
export function cycleSuppression(config: Config): CycleSuppression {
  return {
    change: async (hashes, isRemoval) => {
      await change(config, (deps) => changeSuppression(deps, { isRemoval, hashes, actor: operatorName() }));
    },
    countOutdatedJobs: () => withList(config, ({ records }) => records.countOutdatedJobs()),
  };
}

/** The text is not part of the message, because it can be an advertising ID. */
export function hashOfEntry(text: string, where: string): string {
  const entry = readSuppressionEntry(text);
  if (entry === null) throw invalid(`${where} is neither an advertising ID nor a SHA-256 hash in Base64.`);
  return entry.is === 'hash' ? entry.hash : hashOfDevice(entry.digits);
}

function invalid(detail: string): Failure {
  return new Failure('invalid_request', detail);
}
