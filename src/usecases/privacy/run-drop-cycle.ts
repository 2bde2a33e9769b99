import { dropProofOf } from '../../domain/drop-proof.ts';
import {
  type DropWait,
  answerName,
  answersPerFile,
  contentOfList,
  deviceList,
  InvalidArchive,
  listsOfArchive,
  maxDropItems,
} from '../../domain/drop.ts';
import { Failure } from '../../domain/failure.ts';
import type {
  ArchiveSpool,
  ClaimedCycle,
  CycleErasures,
  CycleSuppression,
  DropApi,
  DropCycle,
  DropCycles,
  DropItems,
  DropStorage,
  DropUpload,
  NewUpload,
  PolicySource,
  ReadList,
  SpooledArchive,
  StoredArchive,
} from '../../ports/drop.ts';
import type { ProofSigner } from '../../ports/erasure.ts';
import type { Log } from '../../ports/observability.ts';
import { pollWhile } from '../load/load-batch.ts';
import { Waits, delayed, isPending, rejection, requireOpen, send } from './send-answers.ts';

export type DropDeps = {
  readonly api: DropApi;
  readonly spool: ArchiveSpool;
  readonly storage: DropStorage;
  readonly cycles: DropCycles;
  readonly items: DropItems;
  readonly suppression: CycleSuppression;
  readonly erasures: CycleErasures;
  readonly readPolicy: PolicySource;
  readonly signer: Pick<ProofSigner, 'sign'>;
  /** SHA-256, in hexadecimal. */
  readonly digest: (content: Buffer) => string;
  readonly now: () => Date;
  readonly keepsHours: boolean;
  readonly log: Log;
};

/** After this time, another command continues the cycle if the command that held it has died. */
const leaseSeconds = 30;

export type DropOutcome =
  | { readonly is: 'nothing_new' }
  /** Another command holds the cycle. */
  | { readonly is: 'held' }
  | { readonly is: 'done'; readonly cycleId: number }
  | {
      readonly is: 'waiting';
      readonly cycleId: number;
      readonly for: DropWait;
      readonly seconds: number;
      readonly detail: string | null;
    };

/** Runs the open cycle, or a new one, until it has ended or has to wait. */
export async function runDropCycle(deps: DropDeps, signal: AbortSignal): Promise<DropOutcome> {
  const { cycles, log } = deps;
  const claimed = await cycles.claim(leaseSeconds);
  if (!claimed) return { is: 'held' };
  const lost = new AbortController();
  const stop = AbortSignal.any([signal, lost.signal]);
  const renew = async (): Promise<void> => {
    if (!(await cycles.renew(claimed, leaseSeconds))) lost.abort();
  };
  const run = async (): Promise<DropOutcome> => {
    let cycle: ClaimedCycle | null = claimed;
    while (cycle.step !== 'done') {
      stop.throwIfAborted();
      cycle = await steps[cycle.step](deps, cycle, stop);
      if (!cycle) return { is: 'nothing_new' };
      log.info({ cycleId: cycle.id, step: cycle.step }, 'drop cycle');
    }
    return { is: 'done', cycleId: cycle.id };
  };
  try {
    return await pollWhile(log, renew, run);
  } catch (error) {
    if (lost.signal.aborted) return { is: 'held' };
    if (error instanceof Waits) {
      const { reason, seconds, detail } = error;
      await cycles.release(claimed, reason, detail);
      return { is: 'waiting', cycleId: claimed.id, for: reason, seconds, detail };
    }
    if (signal.aborted) {
      await cycles.release(claimed, null, null);
      throw new Failure('unavailable', 'Interrupted. Run the command again to continue.');
    }
    await cycles.release(claimed, null, error instanceof Failure ? error.detail : 'The last attempt failed.');
    throw error;
  }
}

/** Returns null if there is nothing to do. */
type Step = (deps: DropDeps, cycle: ClaimedCycle, signal: AbortSignal) => Promise<ClaimedCycle | null>;

const steps: Readonly<Record<Exclude<ClaimedCycle['step'], 'done'>, Step>> = {
  download: async (deps, cycle, signal) => {
    const { api, spool, cycles } = deps;
    // An archive that an earlier attempt has received cannot be downloaded again.
    let archive = await findUnprocessed(deps);
    if (!archive) {
      requireOpen(deps);
      const found = await api.download(signal);
      if (found.is === 'nothing_new') {
        await cycles.noteFetch('nothing_new', true);
        await cycles.discard(cycle);
        return null;
      }
      if (found.is === 'delayed') {
        await cycles.noteFetch(found.reason, false);
        throw delayed(found);
      }
      archive = await spool.save(found.name, found.body);
    }
    return storeArchive(deps, cycle, archive);
  },

  read: async (deps, cycle, signal) => {
    // The operator has provided another one.
    const other = await findUnprocessed(deps);
    if (other) return storeArchive(deps, cycle, other);
    try {
      return await readArchive(deps, cycle, signal);
    } catch (error) {
      if (!(error instanceof InvalidArchive)) throw error;
      const action = 'Get another one from DROP support, and run the command with --archive.';
      throw new Failure(error.code, `${error.detail} It is stored. ${action}`);
    }
  },

  suppress: async ({ items, suppression, cycles }, cycle) => {
    // Added first, so that a hash that is both withdrawn and requested is never missing.
    const requested = await items.requestedHashes(cycle.id);
    if (requested) await suppression.change(requested, false);
    const lifted = await items.liftedHashes(cycle.id);
    if (lifted) await suppression.change(lifted, true);
    return cycles.advance(cycle, { step: 'match' });
  },

  // A job that started before the list was changed can still publish a device that the search does not find.
  match: async ({ items, suppression, erasures, cycles }, cycle, signal) => {
    if ((await suppression.countOutdatedJobs()) > 0) throw new Waits('jobs');
    const { id, listId } = await erasures.begin(cycle.id);
    const devices = await items.match(cycle.id, listId, signal);
    if (devices === 0) {
      await erasures.cancel(cycle.id);
      return cycles.advance(cycle, { step: 'verify' });
    }
    return cycles.advance(cycle, { step: 'erase', erasureList: { id, listId, devices } });
  },

  erase: async ({ erasures, cycles }, cycle) => {
    const list = cycle.erasureList;
    if (!list) throw new Error(`cycle ${cycle.id} has no list to erase`);
    await erasures.complete(list, requireArchive(cycle));
    const erasure = await erasures.find(list.id);
    // The hashes that were found are recorded, so that a search after a failed erasure does not lose them.
    if (!erasure || erasure.failure !== null) return cycles.advance(cycle, { step: 'match', failedErasure: list });
    if (!erasure.isDone) throw new Waits('erasure');
    return cycles.advance(cycle, { step: 'verify' });
  },

  verify: async ({ items, cycles }, cycle) => {
    const remaining = await items.countRemaining(cycle.id);
    if (remaining.some(({ rows }) => rows > 0)) return cycles.advance(cycle, { step: 'match', remaining });
    return cycles.advance(cycle, { step: 'answer', remaining, isVerified: true });
  },

  answer: async (deps, cycle, signal) => {
    const uploads: NewUpload[] = [];
    const statuses: Record<string, number> = {};
    const earlier = await deps.cycles.listUploads(cycle.id);
    for (const list of cycle.lists) {
      const isAnswered =
        list.list === deviceList ||
        (cycle.policy?.other_lists === 'not_found' && contentOfList(list.list).kind === 'other');
      if (isAnswered) uploads.push(...(await answerList(deps, cycle, { list, statuses, earlier }, signal)));
    }
    return deps.cycles.advance(cycle, { step: 'upload', uploads, statuses });
  },

  upload: async (deps, cycle, signal) => {
    const { cycles } = deps;
    for (const upload of await cycles.listUploads(cycle.id)) {
      signal.throwIfAborted();
      if (upload.isAmendment || !isPending(upload)) continue;
      const refusal = await send(deps, cycle.id, upload, signal);
      if (refusal === null) continue;
      const { name } = upload;
      // The next command builds the file again, under another name.
      await cycles.advance(cycle, { step: 'answer', refused: { name, message: refusal } });
      throw rejection(name, refusal);
    }
    await finishCycle(deps, cycle);
    return { ...cycle, step: 'done' };
  },
};

async function finishCycle(deps: DropDeps, cycle: ClaimedCycle): Promise<void> {
  await deps.items.finish(cycle.id);
  const finishedAt = deps.now();
  const proof = await proofOf(deps, cycle, finishedAt);
  await deps.cycles.finish(cycle, finishedAt, { ...proof, signature: deps.signer.sign(proof) });
}

/** Ends a cycle whose remaining answers DROP does not expect. The proof names only the files that were accepted. */
export async function closeDropCycle(deps: DropDeps, cycleId: number): Promise<void> {
  const { cycles } = deps;
  if (!isClosable(await cycles.find(cycleId))) throw notClosable(cycleId);
  const cycle = await cycles.claim(leaseSeconds);
  if (!cycle) throw new Failure('unavailable', 'Another command is processing the open cycle.');
  try {
    if (cycle.id !== cycleId || !isClosable(cycle)) throw notClosable(cycleId);
    for (const upload of await cycles.listUploads(cycleId))
      if (!upload.isAmendment && isPending(upload)) await cycles.noteRefused(cycleId, upload.name, 'Not sent.');
    await finishCycle(deps, cycle);
  } catch (error) {
    await cycles.release(cycle, null, error instanceof Failure ? error.detail : 'The last attempt failed.');
    throw error;
  }
}

/** Everything is erased and verified, and the files with the answers are stored. */
function isClosable(cycle: DropCycle | null): boolean {
  return cycle?.step === 'upload' || (cycle?.step === 'answer' && Object.keys(cycle.statuses).length > 0);
}

function notClosable(cycleId: number): Failure {
  return new Failure('invalid_request', `Cycle ${cycleId} does not wait for DROP to accept its answers.`);
}

/** A command that died after it had recorded an archive has left its local copy behind. */
async function findUnprocessed(deps: Pick<DropDeps, 'spool' | 'cycles'>): Promise<SpooledArchive | null> {
  const found = await deps.spool.find();
  if (!found || !(await deps.cycles.hasArchive(found.sha256))) return found;
  await deps.spool.remove(found);
  return findUnprocessed(deps);
}

async function readArchive(deps: DropDeps, cycle: ClaimedCycle, signal: AbortSignal): Promise<ClaimedCycle> {
  const { items, storage, cycles } = deps;
  const { policy, exemptHashes } = await deps.readPolicy();
  const archive = await storage.openArchive(requireArchive(cycle));
  try {
    await items.clear(cycle.id);
    const lists: ReadList[] = [];
    for (const file of listsOfArchive(archive.names)) {
      signal.throwIfAborted();
      lists.push(await items.addList(cycle.id, file, await archive.open(file.name), signal));
    }
    if (lists.reduce((sum, list) => sum + list.items, 0) > maxDropItems)
      throw new InvalidArchive(`contains more than ${maxDropItems} items`);
    await items.addExempt(cycle.id, exemptHashes);
    const { shared, other_lists } = policy;
    return await cycles.advance(cycle, { step: 'suppress', lists, policy: { shared, other_lists } });
  } finally {
    await archive.close();
  }
}

async function storeArchive(
  { spool, storage, cycles }: DropDeps,
  cycle: ClaimedCycle,
  archive: SpooledArchive,
): Promise<ClaimedCycle> {
  const { name, bytes, sha256, receivedAt } = archive;
  // An archive that replaces another one can have the same name.
  const stored: StoredArchive = { name, bytes, sha256, key: `drop/${cycle.id}/${sha256}/${name}` };
  await storage.keepArchive(stored.key, archive);
  const next = await cycles.advance(cycle, { step: 'read', archive: stored, receivedAt });
  await spool.remove(archive);
  return next;
}

function requireArchive({ id, archive }: ClaimedCycle): StoredArchive {
  if (!archive) throw new Error(`cycle ${id} has no archive`);
  return archive;
}

/**
 * Stores the files with the answers to one list, and counts the statuses. The stored files never change. If DROP
 * refuses a file, only that file is stored again.
 */
async function answerList(
  { items, storage, digest }: DropDeps,
  cycle: ClaimedCycle,
  { list, statuses, earlier }: AnsweredList,
  signal: AbortSignal,
): Promise<NewUpload[]> {
  const { policy } = cycle;
  if (!policy) throw new Error(`cycle ${cycle.id} has no policy`);
  const total = await items.countItems(cycle.id, list.list);
  const parts = Math.ceil(total / answersPerFile);
  const uploads: NewUpload[] = [];
  let [answered, after] = [0, ''];
  for (let part = 1; part <= parts; part += 1) {
    signal.throwIfAborted();
    const lines = await items.answers(cycle.id, list.list, policy, { after, limit: answersPerFile });
    const count = countStatuses(lines, statuses);
    answered += count;
    after = lastIdOf(lines);
    const name = nameOfAnswers(list.name, { part, parts }, earlier);
    if (earlier.some((upload) => upload.name === name)) continue;
    const content = Buffer.concat([Buffer.from('Id,Status\n'), lines]);
    const upload = { name, key: `drop/${cycle.id}/answers/${name}`, sha256: digest(content) };
    await storage.keepFile(upload.key, content, upload.sha256);
    uploads.push({ ...upload, isAmendment: false, items: count, bytes: content.length });
  }
  if (answered !== total) throw new Error(`cycle ${cycle.id} answers ${answered} of ${total} items`);
  return uploads;
}

type AnsweredList = {
  readonly list: ReadList;
  readonly statuses: Record<string, number>;
  readonly earlier: readonly DropUpload[];
};

/** The first name that DROP has not refused. */
function nameOfAnswers(
  listName: string,
  file: { readonly part: number; readonly parts: number },
  earlier: readonly DropUpload[],
): string {
  const refused = new Set(earlier.filter(({ isRefused }) => isRefused).map(({ name }) => name));
  let attempt = 1;
  while (refused.has(answerName(listName, { ...file, attempt }))) attempt += 1;
  return answerName(listName, { ...file, attempt });
}

const lineFeed = 10;
const zero = 48;

/** Every line ends with a comma, a digit, and a line feed. */
function countStatuses(lines: Buffer, statuses: Record<string, number>): number {
  let answered = 0;
  for (let end = lines.indexOf(lineFeed); end !== -1; end = lines.indexOf(lineFeed, end + 1)) {
    const status = String((lines[end - 1] ?? 0) - zero);
    statuses[status] = (statuses[status] ?? 0) + 1;
    answered += 1;
  }
  return answered;
}

function lastIdOf(lines: Buffer): string {
  const start = lines.lastIndexOf(lineFeed, -2) + 1;
  return lines.subarray(start, lines.indexOf(',', start)).toString();
}

async function proofOf({ cycles, erasures }: DropDeps, cycle: ClaimedCycle, finishedAt: Date) {
  const { policy, downloadedAt, verifiedAt } = cycle;
  if (!policy || !downloadedAt || !verifiedAt) throw new Error(`cycle ${cycle.id} is not complete`);
  const found = await Promise.all(cycle.erasureIds.map((id) => erasures.find(id)));
  const done = cycle.erasureIds.filter((_id, index) => found[index]?.isDone && found[index].failure === null);
  return dropProofOf({
    ...cycle,
    policy,
    downloadedAt,
    verifiedAt,
    finishedAt,
    cycleId: cycle.id,
    archive: requireArchive(cycle),
    erasureIds: done,
    erased: found.flatMap((erasure) => erasure?.erased ?? []),
    uploads: (await cycles.listUploads(cycle.id)).filter(({ isAmendment, isRefused }) => !isAmendment && !isRefused),
  });
}
