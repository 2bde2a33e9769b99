import { Failure } from '../../domain/failure.ts';
import { maxSuppressedHashes } from '../../domain/suppression.ts';
import type {
  ListContent,
  ListServer,
  RecordedList,
  SuppressionEngine,
  SuppressionEvent,
  SuppressionRecords,
} from '../../ports/suppression.ts';

export type SuppressionDeps = { readonly records: SuppressionRecords; readonly engine: SuppressionEngine };

/** Hashes that are written in one statement. */
const batchHashes = 100_000;

/**
 * Adds hashes to the list or removes them. If the change is interrupted, run it again: hashes that were already written
 * stay written, and loads use the previous version until all servers have the new one.
 */
export async function changeSuppression(
  deps: SuppressionDeps,
  { isRemoval, hashes, actor }: { isRemoval: boolean; hashes: AsyncIterable<string>; actor: string },
): Promise<RecordedList> {
  const version = await deps.records.reserveVersion();
  let [batch, entries]: [string[], number] = [[], 0];
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await deps.engine.write({ version, isRemoval, hashes: batch });
    batch = [];
  };
  for await (const hash of hashes) {
    batch.push(hash);
    entries += 1;
    if (batch.length === batchHashes) await flush();
  }
  await flush();
  return makeCurrent(deps, version, { event: isRemoval ? 'suppression.remove' : 'suppression.add', actor, entries });
}

/** Gives every server the same list, for example after a server was restored or added. */
export async function syncSuppression(deps: SuppressionDeps, actor: string): Promise<RecordedList> {
  const version = await deps.records.reserveVersion();
  return makeCurrent(deps, version, { event: 'suppression.sync', actor, entries: 0 });
}

/** Loads are checked against the version only after all servers were compared. */
async function makeCurrent(
  { records, engine }: SuppressionDeps,
  version: number,
  event: SuppressionEvent,
): Promise<RecordedList> {
  const current = await records.read();
  await engine.writeKey(current.standInKey);
  let measured = contentOf(await engine.measure(version));
  if (measured === null) {
    await engine.copyMissing();
    measured = contentOf(await engine.measure(version));
  }
  if (measured === null) throw differ();
  // A set occupies the memory of every server, so the limit is checked first.
  if (measured.hashes > maxSuppressedHashes) {
    throw new Failure('invalid_request', `The suppression list can have at most ${maxSuppressedHashes} hashes.`);
  }
  let content: ListContent;
  try {
    content = await createSets(engine, version);
  } catch (error) {
    // Otherwise, every attempt would leave a set. If a server is unavailable, the next change drops its set.
    await engine.dropOtherSets(current.version).catch(() => undefined);
    throw error;
  }
  await records.setCurrent({ version, ...content }, event);
  await engine.dropOtherSets(version);
  return records.read();
}

async function createSets(engine: SuppressionEngine, version: number): Promise<ListContent> {
  await engine.createSets(version);
  const servers = await engine.measure(version);
  const content = contentOf(servers);
  if (content === null || servers.some(({ inSet }) => inSet !== content.hashes)) throw differ();
  return content;
}

function differ(): Failure {
  return new Failure('internal', 'The servers have different suppression lists. Run the command again.');
}

/** Returns the content that all servers have, or null if they differ. */
function contentOf(servers: readonly ListServer[]): ListContent | null {
  const [first, ...others] = servers;
  if (!first) return null;
  const { hashes, checksum } = first;
  const areEqual = others.every((other) => other.hashes === hashes && other.checksum === checksum);
  return areEqual ? { hashes, checksum } : null;
}

export type SuppressionStatus = {
  readonly list: RecordedList;
  readonly servers: readonly (ListServer & { readonly isCurrent: boolean })[];
  /** Running jobs that can still publish rows that were checked against an earlier version. */
  readonly outdatedJobs: number;
};

export async function readSuppressionStatus({ records, engine }: SuppressionDeps): Promise<SuppressionStatus> {
  const list = await records.read();
  const measured = await engine.measure(list.version);
  const servers = measured.map((server) => ({
    ...server,
    isCurrent:
      server.hashes === list.hashes &&
      server.checksum === list.checksum &&
      (list.hashes === 0 || server.inSet === list.hashes),
  }));
  return { list, servers, outdatedJobs: await records.countOutdatedJobs() };
}
