import type { PartnerId } from '../../domain/ids.ts';
import { versionsOfJob } from '../../domain/job.ts';
import type { Incomplete } from '../../ports/repair.ts';
import type {
  AuditEngine,
  AuditPage,
  AuditRecords,
  AuditScope,
  RecordedAudience,
  RecordedDelete,
  RecordedImport,
} from '../../ports/row-audit.ts';
import type { Warehouse } from '../../ports/warehouse.ts';

export type AuditDeps = {
  readonly auditRecords: AuditRecords;
  readonly auditEngine: AuditEngine;
  readonly warehouse: Pick<Warehouse, 'countAttributeRows'>;
};

/** One audited job or audience. An empty list of differences means that the record and the engine agree. */
export type Audited = {
  readonly subject: string;
  readonly differences: readonly string[];
  /** The work to repair, if rows are missing. */
  readonly incomplete: Incomplete | null;
};

/** Compares the records of finished work with the rows in the engine. */
export async function* auditRows(deps: AuditDeps, scope: AuditScope): AsyncGenerator<Audited> {
  const { auditRecords } = deps;
  for await (const job of pages((page) => auditRecords.listImports(scope, page), 'jobId')) {
    const differences = await auditImport(deps, scope, job);
    const incomplete = differences.length > 0 ? ({ kind: 'import', jobId: job.jobId } as const) : null;
    yield { subject: `import ${job.jobId}`, differences, incomplete };
  }
  for await (const job of pages((page) => auditRecords.listDeletes(scope, page), 'jobId')) {
    yield { subject: `delete ${job.jobId}`, differences: await differencesOfDelete(deps, job), incomplete: null };
  }
  for await (const audience of pages((page) => auditRecords.listAudiences(scope, page), 'audienceId')) {
    const { audienceId } = audience;
    const differences = await auditAudience(deps, audience);
    const incomplete = differences && differences.length > 0 ? ({ kind: 'audience', audienceId } as const) : null;
    if (differences) yield { subject: `audience ${audienceId}`, differences, incomplete };
  }
  for (const partnerId of await deps.auditEngine.listPartners(scope.partnerId)) {
    const differences = await differencesOfPartner(deps, partnerId);
    if (differences.length > 0) yield { subject: `partner ${partnerId}`, differences, incomplete: null };
  }
}

/** The maximum number of IDs that a difference lists. */
const namedIds = 20;

/**
 * Reports rows that belong to no record. If PostgreSQL was restored from an older state, the rows of later jobs are
 * still stored. The records of old jobs are deleted after some time, so jobs before the first recorded job are not
 * reported.
 */
async function differencesOfPartner(deps: AuditDeps, partnerId: PartnerId): Promise<string[]> {
  const [jobs, audiences] = await Promise.all([
    deps.auditEngine.countRowsOfJobs(partnerId),
    deps.auditEngine.countRowsOfAudiences(partnerId),
  ]);
  const unrecorded = await deps.auditRecords.findUnrecorded(partnerId, {
    seqs: jobs.map(({ seq }) => seq),
    audiences,
  });
  const describe = (what: string, rows: number, ids: readonly number[]): string[] =>
    ids.length === 0
      ? []
      : [`${rows} rows are stored of ${what} that are not recorded: ${ids.slice(0, namedIds).join(', ')}.`];
  const lostJobs = jobs.filter(({ seq }) => unrecorded.seqs.has(seq));
  const lostAudiences = audiences.filter(({ audienceId }) => unrecorded.audienceIds.has(audienceId));
  const sum = (counts: readonly { readonly rows: number }[]): number =>
    counts.reduce((total, { rows }) => total + rows, 0);
  return [
    ...describe(
      'jobs (by position in the lane)',
      sum(lostJobs),
      lostJobs.map(({ seq }) => seq),
    ),
    ...describe('audiences', sum(lostAudiences), [...new Set(lostAudiences.map(({ audienceId }) => audienceId))]),
  ];
}

const pageSize = 500;

/** Lists all items, page by page. `key` names the ID that they are sorted by. */
export async function* pages<Key extends string, Item extends Readonly<Record<Key, number>>>(
  list: (page: AuditPage) => Promise<readonly Item[]>,
  key: Key,
): AsyncGenerator<Item> {
  for (let afterId = 0; ;) {
    const items = await list({ afterId, limit: pageSize });
    yield* items;
    const last = items.at(-1);
    if (!last || items.length < pageSize) return;
    afterId = last[key];
  }
}

/** Reads the record again if there is a difference, because a later job may have started during the audit. */
async function auditImport(deps: AuditDeps, scope: AuditScope, job: RecordedImport): Promise<string[]> {
  const devices = await deps.auditEngine.countDevicesOfJob(job.partnerId, versionsOfJob(job.seq));
  const differences = differencesOfImport(job, devices);
  if (differences.length === 0) return [];
  const [now] = await deps.auditRecords.listImports(scope, { afterId: job.jobId - 1, limit: 1 });
  return now?.jobId === job.jobId ? differencesOfImport(now, devices) : [];
}

/**
 * Every device of an import keeps a row with the import's version until a later job replaces or deletes it. Without a
 * later job, the number of stored devices is therefore exact. A replacing import also marks the devices that it
 * removed, so more devices than recorded can be stored.
 */
export function differencesOfImport(job: RecordedImport, devices: number): string[] {
  const { uniqueDevices, isReplace, hasLater, erasedRows } = job;
  const isMissing = devices < uniqueDevices - erasedRows && !hasLater;
  const isExcess = devices > uniqueDevices && !isReplace;
  return isMissing || isExcess ? [`${uniqueDevices} devices are recorded, but ${devices} are stored.`] : [];
}

async function differencesOfDelete({ warehouse }: AuditDeps, job: RecordedDelete): Promise<string[]> {
  const { partnerId, attributeIds, seq } = job;
  const { rows } = await warehouse.countAttributeRows({ partnerId, attributeIds, versions: versionsOfJob(seq) });
  return rows === 0 ? [] : [`${rows} deleted rows are still stored.`];
}

/** Returns null if the numbers cannot be compared because the audience changed during the audit. */
async function auditAudience(deps: AuditDeps, recorded: RecordedAudience): Promise<string[] | null> {
  const devices = await deps.auditEngine.countDevicesOfAudience(recorded);
  const differences = differencesOfAudience(recorded, devices);
  if (differences.length === 0) return [];
  const now = await deps.auditRecords.findAudience(recorded.audienceId);
  const isUnchanged = now?.generation === recorded.generation && now.lastLoadId === recorded.lastLoadId;
  return isUnchanged ? differences : null;
}

export function differencesOfAudience(recorded: RecordedAudience, devices: number): string[] {
  const { uploadedDevices, uploadedByFiles, uniqueDevices, matchedDevices, erasedRows } = recorded;
  const isExplained = devices <= uniqueDevices && devices >= uniqueDevices - erasedRows;
  return [
    ...(isExplained ? [] : [`${uniqueDevices} devices are recorded, but ${devices} are stored.`]),
    ...(uploadedDevices === uploadedByFiles
      ? []
      : [`${uploadedDevices} uploaded devices are recorded, but the files have ${uploadedByFiles}.`]),
    ...(uploadedDevices >= uniqueDevices && uniqueDevices >= matchedDevices
      ? []
      : [
          `The counts contradict each other: ${uploadedDevices} uploaded, ${uniqueDevices} unique, ${matchedDevices} matched.`,
        ]),
  ];
}
