import { rejectedRows } from '@inlet/row-rule/file-rule';
import { importKeys } from '../../domain/attribute.ts';
import { Failure } from '../../domain/failure.ts';
import type { LoadId } from '../../domain/ids.ts';
import { keyType as keyTypes, pathType } from '../../domain/import-log.ts';
import { stagingDifference } from '../../domain/row-account.ts';
import { isCheckOutdated } from '../../domain/suppression.ts';
import type { BatchClaim } from '../../ports/load-stage.ts';
import type { AttributeStore } from '../../ports/partner-store.ts';
import type {
  FileToRepair,
  Incomplete,
  LaterChanges,
  RepairEngine,
  RepairRecords,
  StagedFile,
} from '../../ports/repair.ts';
import type { AuditScope } from '../../ports/row-audit.ts';
import type { Warehouse } from '../../ports/warehouse.ts';
import { type StageBatchDeps, stageBatch } from '../load/load-batch.ts';
import { type AuditDeps, auditRows } from './audit-rows.ts';

export type RepairDeps = AuditDeps &
  Omit<StageBatchDeps, 'files'> & {
    readonly repairRecords: RepairRecords;
    readonly repairEngine: RepairEngine;
    readonly attributes: AttributeStore;
    readonly warehouse: Warehouse;
  };

/** A job or audience to repair, and why. */
export type Suspect = { readonly subject: string; readonly reason: string; readonly of: Incomplete };

/** The number of loads whose counts are looked up. */
const recentLoads = 1_000;

export type LostCounts = {
  /** The first load whose counts are missing on the receiving shard. */
  readonly first: LoadId;
  /** Rows of this load and all later loads may be missing. */
  readonly suspectFrom: LoadId;
};

/** Looks up the counts of recent loads. Returns null if the receiving shards have all of them. */
export async function findLostCounts(
  deps: {
    readonly repairRecords: Pick<RepairRecords, 'listRecentLoads'>;
    readonly repairEngine: Pick<RepairEngine, 'findUncounted' | 'shards'>;
  },
  limit = recentLoads,
): Promise<LostCounts | null> {
  const { repairEngine } = deps;
  const loadIds = await deps.repairRecords.listRecentLoads(limit);
  const uncounted = loadIds.length === 0 ? [] : await repairEngine.findUncounted(loadIds);
  return decideLostCounts(loadIds, new Set(uncounted), repairEngine.shards);
}

/**
 * If a shard has lost the counts of a load, find the last earlier load whose counts it still has. The shard may have
 * lost the rows of every load after that one, including loads that other shards received. If it has no such counts, it
 * may have lost everything.
 */
export function decideLostCounts(
  loadIds: readonly LoadId[],
  uncounted: ReadonlySet<LoadId>,
  shards: number,
): LostCounts | null {
  if (uncounted.size === 0) return null;
  const starts = Array.from({ length: shards }, (_, shard) => {
    const received = loadIds.filter((loadId) => loadId % shards === shard);
    const lost = received.filter((loadId) => uncounted.has(loadId));
    if (lost.length === 0) return Infinity;
    const firstLost = Math.min(...lost);
    return Math.max(0, ...received.filter((loadId) => loadId < firstLost)) + 1;
  });
  return { first: Math.min(...uncounted), suspectFrom: Math.min(...starts) };
}

/**
 * Finds the work whose rows may be missing. An audit detects missing rows of an import only if no later import can have
 * replaced them. Therefore, if a shard has lost the counts of a load, all work that may be affected is compared with
 * its source files as well.
 */
export async function* findSuspects(deps: RepairDeps, scope: AuditScope): AsyncGenerator<Suspect> {
  const named = new Set<string>();
  // Done first, because each repair restores the counts of its loads.
  const lost = await findLostCounts(deps);
  for await (const { subject, differences, incomplete } of auditRows(deps, scope)) {
    if (!incomplete) continue;
    named.add(subject);
    yield { subject, reason: differences.join(' '), of: incomplete };
  }
  if (lost === null) return;
  for (const of of await deps.repairRecords.listSince(lost.suspectFrom, scope.partnerId)) {
    const subject = of.kind === 'import' ? `import ${of.jobId}` : `audience ${of.audienceId}`;
    const reason = `ClickHouse has no counts of load ${lost.first}, so rows may be missing.`;
    if (!named.has(subject)) yield { subject, reason, of };
  }
}

/** Describes which files can be loaded again. Changes nothing. */
export async function planRepair(deps: RepairDeps, of: Incomplete): Promise<string[]> {
  const files = await deps.repairRecords.listFiles(of);
  const lines: string[] = [];
  for (const ofJob of Map.groupBy(files, ({ jobId }) => jobId).values()) {
    const obstacleOfJob = await findObstacle(deps, ofJob);
    for (const file of ofJob) {
      const obstacle = obstacleOfJob ?? (await changeOf(deps, file));
      lines.push(describe(file, obstacle === null ? 'can be loaded again' : `cannot be loaded again: ${obstacle}`));
    }
  }
  return lines;
}

export type Repaired = { readonly lines: readonly string[]; readonly isComplete: boolean };

/**
 * Loads the files of finished work again and adds the rows that are missing. The rows have the versions of their
 * original job, so later jobs still take precedence. Both final tables are sets, so adding a row that is not missing
 * changes nothing. Records and counts stay as they are, because they were correct before the rows were lost.
 */
export async function repair(deps: RepairDeps, of: Incomplete, signal: AbortSignal): Promise<Repaired> {
  const files = await deps.repairRecords.listFiles(of);
  const lines: string[] = [];
  let isComplete = true;
  for (const ofJob of Map.groupBy(files, ({ jobId }) => jobId).values()) {
    const result = await repairJob(deps, ofJob, signal);
    lines.push(...result.lines);
    isComplete &&= result.isComplete;
  }
  return { lines, isComplete };
}

async function repairJob(deps: RepairDeps, files: readonly FileToRepair[], signal: AbortSignal): Promise<Repaired> {
  const [first] = files;
  if (!first) return { lines: [], isComplete: true };
  const obstacle = await findObstacle(deps, files);
  if (obstacle !== null) {
    const lines = files.map((file) => describe(file, `cannot be loaded again: ${obstacle}`));
    return { lines, isComplete: false };
  }
  const lines: string[] = [];
  const staged: StagedFile[] = [];
  const loadIds: LoadId[] = [];
  try {
    if (first.keyType !== null) {
      const attributes = await deps.attributes.list(first.partnerId, { retired: true });
      // The attributes may have been retired since the import.
      const active = attributes.map((attribute) => ({ ...attribute, isRetired: false }));
      await deps.warehouse.writeJobKeys(first.jobId, importKeys(active, first.keyType));
    }
    for (const file of files) {
      const found = await stageFile(deps, file, loadIds, signal);
      if ('load' in found) staged.push(found);
      else lines.push(describe(file, `cannot be loaded again: ${found.problem}`));
    }
    lines.push(...(await addMissing(deps, staged)));
    return { lines, isComplete: staged.length === files.length };
  } finally {
    for (const loadId of loadIds) await deps.stage.dropLoad(loadId);
    await deps.warehouse.dropJob(first.jobId);
    await deps.repairRecords.endLoads(loadIds);
  }
}

type StageDeps = Omit<StageBatchDeps, 'files'> & {
  readonly repairRecords: Pick<RepairRecords, 'startLoad'>;
  readonly repairEngine: Pick<RepairEngine, 'shards'>;
};

/**
 * Whether IDs without hyphens were accepted when the file was loaded is not recorded, and the setting may have changed
 * since then. Therefore, if the row counts differ without them, the file is staged again with them. Adds the IDs of its
 * loads to `loadIds`.
 */
export async function stageFile(
  deps: StageDeps,
  file: FileToRepair,
  loadIds: LoadId[],
  signal: AbortSignal,
): Promise<StagedFile | { readonly problem: string }> {
  const problems: string[] = [];
  for (const unhyphenatedIds of [false, true]) {
    const loadId = await deps.repairRecords.startLoad(file, file.loadId, deps.repairEngine.shards);
    loadIds.push(loadId);
    const { jobId, partnerId, target, suppression } = file;
    // With 0 bytes, the load uses the shared stage and needs no separate tables.
    const staged = { load: { loadId, jobId, partnerId, target, suppression, bytes: 0 }, file };
    const problem = await stageAgain(deps, staged, unhyphenatedIds, signal);
    if (problem === null) return staged;
    problems.push(problem);
  }
  return { problem: problems[0] ?? '' };
}

/** Returns the reason why the file cannot be repaired, or null. Its row counts must match the recorded counts. */
async function stageAgain(
  deps: Omit<StageBatchDeps, 'files'>,
  { load, file }: StagedFile,
  unhyphenatedIds: boolean,
  signal: AbortSignal,
): Promise<string | null> {
  const { fileId, object, expectGzip, source } = file;
  const claim: BatchClaim = {
    batchId: fileId,
    attempt: 1,
    source,
    load,
    files: [{ fileId, object, expectGzip }],
    badRowShare: 1,
    unhyphenatedIds,
    previousLoadId: null,
  };
  // The job has ended, so there is no progress to record and nothing that could cancel the load.
  const files = { recordProgress: () => Promise.resolve(true) };
  const [result] = await stageBatch({ ...deps, files }, claim, signal);
  if (result?.is === 'failed') return result.failure.detail;
  const counts = (await deps.stage.countRows(load)).get(fileId);
  const [accepted, total] = [counts?.accepted ?? 0, counts ? counts.accepted + rejectedRows(counts) : 0];
  if (accepted !== file.acceptedRows || total !== file.totalRows) {
    return `${file.acceptedRows} of ${file.totalRows} rows were accepted, but now ${accepted} of ${total} are.`;
  }
  return stagingDifference(counts?.stagedRows ?? 0, await deps.stage.countStaged(load, [fileId]));
}

const waitSeconds = 300;

/** Adds the rows while none of the partner's jobs is running, because a concurrent delete could miss them. */
async function addMissing(deps: RepairDeps, staged: readonly StagedFile[]): Promise<string[]> {
  const [first] = staged;
  if (!first) return [];
  const { partnerId } = first.file;
  const lines = await deps.repairRecords.whileIdle(partnerId, waitSeconds, () =>
    addWhileIdle(deps, staged, first.file),
  );
  if (lines !== null) return lines;
  throw new Failure('unavailable', `Partner ${partnerId} still has open jobs after ${waitSeconds} s. Try again later.`);
}

async function addWhileIdle(
  deps: RepairDeps,
  staged: readonly StagedFile[],
  { jobId, partnerId, target, seq, suppression }: FileToRepair,
): Promise<string[]> {
  const { repairEngine, repairRecords, warehouse } = deps;
  if (isCheckOutdated(suppression.version, await repairRecords.readSuppression())) throw listChanged();
  const changes = await repairRecords.findLaterChanges(partnerId, seq);
  // A delete or replacement may have ended since the files were staged.
  if (changes.hasReplace && target.kind === 'attributes') return staged.map(({ file }) => describe(file, replaced));
  if (changes.isUnseen && target.kind === 'attributes') return staged.map(({ file }) => describe(file, unseen));
  const except = changes.deletedAttributeIds;
  const lines: string[] = [];
  for (const one of staged) {
    const missing = await repairEngine.countMissing(one, except);
    if (missing > 0) await repairEngine.addRows(one, except);
    await repairEngine.restoreCounts(one);
    lines.push(describe(one.file, missing === 0 ? 'no rows are missing' : `${missing} missing rows are restored`));
  }
  if (target.kind !== 'attributes') return lines;
  const loadIds = staged.map(({ load }) => load.loadId);
  // A replacement also marks the rows that it replaced, and these marks may be lost.
  if (target.isReplacing)
    await warehouse.replaceAttributes({ id: jobId, partnerId, versions: target.versions }, loadIds);
  await warehouse.publishDevices(jobId, loadIds);
  return lines;
}

function listChanged(): Failure {
  const detail =
    'The suppression list was changed while the files were read. Nothing was restored. Run the command again.';
  return new Failure('unavailable', detail);
}

const replaced = 'a later import with mode "replace" has replaced its rows, or should have. Import it again.';

const unseen =
  'its devices have not been seen for the number of days that is set for the partner, so they are removed.';

/** Returns the reason why the files of a job cannot be loaded again, or null if they can. */
async function findObstacle(deps: RepairDeps, [first]: readonly FileToRepair[]): Promise<string | null> {
  if (!first) return null;
  return obstacleOf(first, await deps.repairRecords.findLaterChanges(first.partnerId, first.seq));
}

export function obstacleOf({ source, target, keyType }: FileToRepair, changes: LaterChanges): string | null {
  if (source.pathType !== pathType.sharedBucket)
    return 'it is in a partner-owned bucket. The partner must import it again.';
  if (target.kind !== 'attributes') return null;
  if (changes.isUnseen) return unseen;
  if (changes.hasReplace) return replaced;
  if (changes.hasMovedKeys && keyType === keyTypes.foreignKey)
    return 'foreign keys have been changed since. The partner must import it again.';
  // Repeating the replacement would also mark rows that have been deleted since then, and could make them visible
  // again.
  if (target.isReplacing && changes.deletedAttributeIds.length > 0)
    return 'attributes have been deleted since. Import it again.';
  return null;
}

async function changeOf({ sources }: RepairDeps, { source, object }: FileToRepair): Promise<string | null> {
  const found = await sources.withObjects(source, (objects) => objects.find(object.key));
  if (!found) return 'it was deleted.';
  return found.etag === object.etag && found.size === object.size ? null : 'it was overwritten.';
}

function describe({ loadId, path, acceptedRows }: FileToRepair, state: string): string {
  return `load ${loadId}, ${path} (${acceptedRows} rows): ${state}`;
}
