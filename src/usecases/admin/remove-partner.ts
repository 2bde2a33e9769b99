import { Failure } from '../../domain/failure.ts';
import type { JobId, PartnerId } from '../../domain/ids.ts';
import type { Partner } from '../../domain/partner.ts';
import {
  partnerIdPattern,
  type PlaceCount,
  type Removal,
  type RemovalStep,
  describeOpenWork,
  mergeCounts,
  removalProofOf,
  removalTargetOf,
  stepAfterVerify,
  unfinishedOf,
} from '../../domain/partner-removal.ts';
import type { ErasureEngine, ProofSigner } from '../../ports/erasure.ts';
import type { Operations } from '../../ports/operations.ts';
import type { PartnerRemovals, RemovalEngine, RemovalStorage } from '../../ports/partner-removal.ts';
import type { PartnerStore } from '../../ports/partner-store.ts';
import { partnerNamed } from './manage-partners.ts';

export type RemovePartnerDeps = {
  readonly partners: PartnerStore;
  readonly operations: Operations;
  readonly removals: PartnerRemovals;
  readonly removalEngine: RemovalEngine;
  readonly removalStorage: RemovalStorage;
  readonly erasureEngine: Pick<
    ErasureEngine,
    'untilWritten' | 'removeReplacedParts' | 'countDetachedParts' | 'countReplacedParts'
  >;
  readonly proofSigner: ProofSigner;
  /** Drops the staged rows and the staging tables of loads and jobs that have ended, on every server. */
  readonly dropOrphanedStages: () => Promise<void>;
  /** Removes devices that no partner has from the known devices, and rebuilds the device index. */
  readonly forgetDevices: () => Promise<void>;
  readonly report: (progress: string) => void;
  /** Waits before checking again what other processes are doing. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
};

export type RemovalPreview = {
  readonly places: readonly PlaceCount[];
  readonly isBegun: boolean;
  /** What confirms the removal: the name or, if a removed partner had the same name, the ID. */
  readonly confirm: string;
};

/** Counts what a removal would remove. */
export async function previewRemoval(deps: RemovePartnerDeps, name: string): Promise<RemovalPreview> {
  const last = await deps.removals.find(name);
  const open = unfinishedOf(last);
  const partner = open ? { id: open.partnerId, prefix: open.prefix } : await partnerNamed(deps, name);
  const places = (await countAll(deps, partner)).filter(({ count }) => count > 0);
  return { places, isBegun: open !== null, confirm: last && !open ? String(partner.id) : name };
}

async function countAll(
  { removals, removalEngine, removalStorage }: RemovePartnerDeps,
  { id, prefix }: Pick<Partner, 'id' | 'prefix'>,
): Promise<PlaceCount[]> {
  return [
    ...(await removals.countRecords(id)),
    ...(await removalEngine.countRows(id)),
    ...(await removalEngine.countLoads(id, removals)),
    ...(await removalStorage.countObjects(prefix)),
  ];
}

export type RemovalRequest = {
  readonly name: string;
  /** The name or the ID of the partner. */
  readonly confirm: string;
  readonly requestedBy: string;
};

/**
 * Removes a partner with all of its data. If the command is interrupted, running it again continues with the step that was
 * interrupted. After the removal has ended, running it again returns the same proof.
 */
export async function removePartner(
  deps: RemovePartnerDeps,
  { name, confirm, requestedBy }: RemovalRequest,
  signal: AbortSignal,
): Promise<Removal> {
  const ended = await deps.removals.withLock(name, async () => {
    let removal = await deps.partners.withNameLocked(name, () => findOrBegin(deps, { name, confirm, requestedBy }));
    while (removal.step !== 'done') {
      signal.throwIfAborted();
      deps.report(progressOf[removal.step]);
      removal = await steps[removal.step](deps, removal, signal);
    }
    return removal;
  });
  if (ended) return ended;
  throw new Failure('unavailable', `Another process is removing the partner "${name}".`);
}

/** Runs under the lock on the name, so that no partner with this name is created after the check. */
async function findOrBegin(
  { partners, removals, removalStorage }: RemovePartnerDeps,
  { name, confirm, requestedBy }: RemovalRequest,
): Promise<Removal> {
  const target = removalTargetOf(name, confirm, {
    partner: await partners.findByName(name),
    last: await removals.find(name),
    confirmed: partnerIdPattern.test(confirm) ? await removals.findOf(Number(confirm), name) : null,
  });
  if (target.is === 'begun') return target.removal;
  return removals.begin(target.partner, { requestedBy, hasStorageUser: removalStorage.removeUser !== null });
}

/** A request in flight can commit a job after the partner's keys were revoked, so every pass cancels new jobs. */
async function untilWorkHasEnded(
  { removals, operations, report, pause }: RemovePartnerDeps,
  partnerId: PartnerId,
  signal: AbortSignal,
): Promise<void> {
  const canceled = new Set<JobId>();
  for (let last = ''; ;) {
    await removals.endAccess(partnerId);
    for (const jobId of await removals.listOpenJobs(partnerId)) {
      if (!canceled.has(jobId)) await operations.cancelJob(jobId);
      canceled.add(jobId);
    }
    const waits = describeOpenWork(await removals.countOpenWork(partnerId)).join('; ');
    if (waits === '') return;
    if (waits !== last) report(`Waiting for: ${waits}. A worker must be running.`);
    last = waits;
    await pause(signal);
  }
}

/**
 * A worker that was killed leaves staged rows behind, and a worker that was suspended can stage rows late. What is staged
 * without a record is dropped as well, because its partner is unknown. Returns the counts, which are 0.
 */
async function untilNothingStaged(
  { removals, removalEngine, dropOrphanedStages, report, pause }: RemovePartnerDeps,
  partnerId: PartnerId,
  signal: AbortSignal,
): Promise<readonly PlaceCount[]> {
  for (let last = ''; ;) {
    await dropOrphanedStages();
    await removalEngine.dropExports(partnerId, removals);
    const staged = await removalEngine.countStaged(partnerId, removals);
    const left = new Set(staged.filter(({ count }) => count > 0).map(({ place }) => place));
    if (left.size === 0) return staged;
    const places = [...left].join(', ');
    if (places !== last) report(`Waiting until staged rows are dropped from ${places}. A running backup delays this.`);
    last = places;
    await pause(signal);
  }
}

type RunningStep = Exclude<RemovalStep, 'done'>;
type Step = (deps: RemovePartnerDeps, removal: Removal, signal: AbortSignal) => Promise<Removal>;

const progressOf: Readonly<Record<RunningStep, string>> = {
  wait: 'The keys of the partner are revoked. Waiting until its work has ended.',
  storage: 'Removing the storage user and the objects.',
  rows: 'Removing the rows in ClickHouse.',
  records: 'Removing the records in PostgreSQL.',
  devices: 'Removing devices that only this partner imported. Reports wait until the device index is rebuilt.',
  verify: 'Counting what remains on every server.',
  clean: 'Waiting until ClickHouse has deleted the files of replaced parts, which takes about eight minutes.',
};

/** The credentials of the user could otherwise open the files of a later partner with the same name. */
function noWayToRemoveUser(name: string): string {
  return `The storage user of the partner "${name}" still exists, and the proof says that Inlet removes it. Set INLET_S3_ENDPOINT and INLET_STORAGE_ADMIN_*, and run the command again without --without-storage.`;
}

const steps: Readonly<Record<RunningStep, Step>> = {
  // A worker could otherwise publish rows afterward.
  wait: async (deps, removal, signal) => {
    const { removals, erasureEngine } = deps;
    const { partnerId } = removal;
    await untilWorkHasEnded(deps, partnerId, signal);
    // Done before the records are removed, because they name the partner of the staged rows.
    await untilNothingStaged(deps, partnerId, signal);
    await erasureEngine.untilWritten(signal);
    const removed = mergeCounts(removal.removed, await countAll(deps, { id: partnerId, prefix: removal.prefix }));
    return removals.advance(partnerId, { step: 'storage', removed: removed.filter(({ count }) => count > 0) });
  },

  // The user is removed first, so that the partner cannot upload anything afterward.
  storage: async ({ removals, removalStorage }, { partnerId, name, prefix, hasStorageUser }) => {
    if (hasStorageUser && !removalStorage.removeUser) throw new Failure('invalid_request', noWayToRemoveUser(name));
    await removalStorage.removeUser?.(name);
    await removalStorage.removeObjects(prefix);
    return removals.advance(partnerId, { step: 'rows' });
  },

  // Done before the records are removed, because they name the files of the rejected lines.
  rows: async ({ removals, removalEngine }, { partnerId }, signal) => {
    await removalEngine.removeLoads(partnerId, removals, signal);
    // Without the records, the counts of the partner's loads cannot be found anymore.
    const left = (await removalEngine.countLoads(partnerId, removals)).filter(({ count }) => count > 0);
    if (left.length > 0) throw new Error(`${left.map(({ place }) => place).join(', ')} still contain rows`);
    await removalEngine.removeRows(partnerId, signal);
    return removals.advance(partnerId, { step: 'records' });
  },

  records: async ({ removals }, { partnerId }) => {
    await removals.removeRecords(partnerId);
    return removals.advance(partnerId, { step: 'devices' });
  },

  devices: async ({ removals, forgetDevices }, { partnerId }) => {
    await forgetDevices();
    return removals.advance(partnerId, { step: 'verify' });
  },

  verify: async (deps, { partnerId, prefix }, signal) => {
    const staged = await untilNothingStaged(deps, partnerId, signal);
    const remaining = [...(await countAll(deps, { id: partnerId, prefix })), ...staged];
    const step = stepAfterVerify(remaining);
    return deps.removals.advance(partnerId, { step, remaining, isRemoved: step === 'clean' });
  },

  clean: async (deps, removal, signal) => {
    const { erasureEngine: engine, removals } = deps;
    const { removedAt } = removal;
    if (!removedAt) throw new Error(`the removal of ${removal.name} has not been verified`);
    const detached = await engine.countDetachedParts();
    if (detached > 0) {
      throw new Failure(
        'unavailable',
        `ClickHouse has ${detached} detached parts, which can contain rows of the partner. Remove them (system.detached_parts), and run the command again.`,
      );
    }
    for (;;) {
      await engine.removeReplacedParts();
      if ((await engine.countReplacedParts(removedAt)) === 0) break;
      await deps.pause(signal);
    }
    const finishedAt = new Date();
    const proof = removalProofOf(removal, removedAt, finishedAt);
    return removals.finish(removal.partnerId, finishedAt, { ...proof, signature: deps.proofSigner.sign(proof) });
  },
};
