import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directorySpool } from '../../src/adapters/archive-spool.ts';
import { httpDropApi } from '../../src/adapters/drop/drop-api.ts';
import { openZipEntry, readZipEntries } from '../../src/adapters/zip-archive.ts';
import { InvalidArchive } from '../../src/domain/drop.ts';
import { Secret } from '../../src/domain/secret.ts';
import type {
  ClaimedCycle,
  CycleErasures,
  DropCycles,
  DropItems,
  DropStorage,
  DropUpload,
  NewUpload,
} from '../../src/ports/drop.ts';
import type { SignedDropProof } from '../../src/domain/drop-proof.ts';
import { type DropDeps, runDropCycle } from '../../src/usecases/privacy/run-drop-cycle.ts';
import { silentLog } from '../support/silent-log.ts';

const { signal } = new AbortController();

/** Runs cycles with the command's client and local folder, and with everything else in memory. */
export function memoryDrop(url: string, apiKey: string) {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-drop-'));
  const records = memoryCycles();
  const items = memoryItems();
  const erasures = memoryErasures();
  const digest = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
  const deps = {
    api: httpDropApi({ url, apiKey: new Secret(apiKey), timeoutMs: 5_000 }),
    spool: directorySpool(folder),
    storage: memoryStorage(folder),
    cycles: records.cycles,
    items: items.port,
    suppression: { change: () => Promise.resolve(), countOutdatedJobs: () => Promise.resolve(0) },
    erasures: erasures.port,
    readPolicy: () =>
      Promise.resolve({ policy: { exempt: [], shared: 'opted_out', other_lists: 'leave' }, exemptHashes: [] }),
    signer: { sign: () => null },
    digest,
    now: () => new Date('2026-08-20T19:00:00Z'),
    keepsHours: false,
    log: silentLog,
  } satisfies DropDeps;
  return {
    folder,
    deps,
    records,
    items,
    erasures,
    sync: () => runDropCycle(deps, signal),
    /** Runs the command, which must fail, and returns its error. */
    failedSync: async (): Promise<unknown> => runDropCycle(deps, signal).catch((error: unknown) => error),
    close: (): void => rmSync(folder, { recursive: true }),
  };
}

export type MemoryDrop = ReturnType<typeof memoryDrop>;

function newCycle(id: number): ClaimedCycle {
  return {
    id,
    step: 'download',
    claim: 1,
    waitingFor: null,
    failure: null,
    archive: null,
    policy: null,
    lists: [],
    devicesFound: 0,
    erasureIds: [],
    erasureList: null,
    remaining: [],
    statuses: {},
    startedAt: new Date(),
    downloadedAt: null,
    verifiedAt: null,
    finishedAt: null,
  };
}

function memoryCycles() {
  const ended: ClaimedCycle[] = [];
  const uploads = new Map<number, DropUpload[]>();
  const proofs = new Map<number, SignedDropProof>();
  const fetches: { readonly outcome: string; readonly isCurrent: boolean }[] = [];
  let open: ClaimedCycle | null = null;
  const all = (): ClaimedCycle[] => (open ? [...ended, open] : ended);
  const change = (cycleId: number, name: string, changed: Partial<DropUpload>): Promise<void> => {
    const of = uploads.get(cycleId) ?? [];
    uploads.set(
      cycleId,
      of.map((one) => (one.name === name ? { ...one, ...changed } : one)),
    );
    return Promise.resolve();
  };
  const add = (cycleId: number, added: readonly NewUpload[]): void => {
    const unsent = { sentAt: null, acceptedAt: null, isRefused: false, message: null };
    uploads.set(cycleId, [...(uploads.get(cycleId) ?? []), ...added.map((one) => ({ ...one, ...unsent }))]);
  };
  const find = (cycleId: number, name: string): DropUpload | undefined =>
    uploads.get(cycleId)?.find((one) => one.name === name);
  const cycles: DropCycles = {
    claim: async () => {
      open ??= newCycle(ended.length + 1);
      return open;
    },
    renew: () => Promise.resolve(true),
    advance: async (cycle, { isVerified, erasureList, failedErasure, uploads: added = [], refused, ...changed }) => {
      const { archive = cycle.archive, policy = cycle.policy } = changed;
      add(cycle.id, added);
      if (refused) await cycles.noteRefused(cycle.id, refused.name, refused.message);
      open = {
        ...cycle,
        ...changed,
        archive,
        policy,
        failure: null,
        downloadedAt: changed.receivedAt ?? cycle.downloadedAt,
        erasureList: erasureList ?? cycle.erasureList,
        erasureIds: erasureList ? [...cycle.erasureIds, erasureList.id] : cycle.erasureIds,
        devicesFound: cycle.devicesFound + (erasureList?.devices ?? 0) - (failedErasure?.devices ?? 0),
        verifiedAt: isVerified ? new Date() : cycle.verifiedAt,
      };
      return open;
    },
    release: async (_cycle, waitingFor, failure) => {
      if (open) open = { ...open, waitingFor, failure };
    },
    discard: async () => {
      open = null;
    },
    noteFetch: async (outcome, isCurrent) => void fetches.push({ outcome, isCurrent }),
    hasArchive: async (sha256) => all().some(({ archive }) => archive?.sha256 === sha256),
    listUploads: async (cycleId) => uploads.get(cycleId) ?? [],
    addAmendment: async (cycleId, upload) => add(cycleId, [upload]),
    noteSent: async (cycleId, name) => change(cycleId, name, { sentAt: find(cycleId, name)?.sentAt ?? new Date() }),

    noteUnsent: (cycleId, name) => change(cycleId, name, { sentAt: null }),
    noteRefused: (cycleId, name, message) => change(cycleId, name, { sentAt: null, isRefused: true, message }),
    noteAccepted: (cycleId, name, message) => change(cycleId, name, { acceptedAt: new Date(), message }),
    finish: async (cycle, finishedAt, proof) => {
      ended.push({ ...cycle, step: 'done', finishedAt });
      proofs.set(cycle.id, proof);
      open = null;
    },
    find: async (id) => all().find((one) => one.id === id) ?? null,
    list: async (limit) => all().toReversed().slice(0, limit),
    findProof: async (id) => proofs.get(id) ?? null,
    findFetch: async () => null,
  };
  return { cycles, fetches, proofs };
}

function memoryStorage(folder: string): DropStorage & { isUnavailable: boolean } {
  const objects = new Map<string, Buffer>();
  const keep = async (key: string, content: Buffer): Promise<void> => {
    if (!(objects.get(key) ?? content).equals(content)) throw new Error(`the object ${key} has different content`);
    objects.set(key, content);
  };
  const read = (key: string): Buffer => {
    const content = objects.get(key);
    if (!content) throw new Error(`the object ${key} has no content`);
    return content;
  };
  const storage = {
    isUnavailable: false,
    keepArchive: async (key, { path }) => {
      if (storage.isUnavailable) throw new Error('the bucket is unavailable');
      await keep(key, readFileSync(path));
    },
    keepFile: (key, content) => keep(key, content),
    readFile: async (key) => read(key),
    openArchive: async ({ key }) => {
      const path = join(folder, 'open');
      writeFileSync(path, read(key));
      const entries = await readZipEntries(path);
      return {
        names: entries.map(({ name }) => name),
        open: async (name) => {
          const entry = entries.find((one) => one.name === name);
          if (!entry) throw new Error(`the archive has no file ${name}`);
          return openZipEntry(path, entry);
        },
        close: () => Promise.resolve(),
      };
    },
  } satisfies DropStorage & { isUnavailable: boolean };
  return storage;
}

/** Items whose devices are stored are answered with 3, and all others with 5. */
function memoryItems() {
  const ids = new Map<string, string[]>();
  const stored = { devices: 0, isUnreadable: false };
  const of = (cycleId: number, list: string): string[] => ids.get(`${cycleId} ${list}`) ?? [];
  const port: DropItems = {
    clear: () => Promise.resolve(),
    addList: async (cycleId, { name, list }, body) => {
      if (stored.isUnreadable) throw new InvalidArchive('contains a list with an unexpected first line');
      const [, ...lines] = Buffer.concat(await body.toArray())
        .toString()
        .trimEnd()
        .split('\n');
      const added = lines.map((line) => line.slice(0, 12));
      ids.set(`${cycleId} ${list}`, added.toSorted());
      return { name, list, items: added.length, invalidLines: 0 };
    },
    addExempt: () => Promise.resolve(),
    requestedHashes: () => Promise.resolve(null),
    liftedHashes: () => Promise.resolve(null),
    match: () => Promise.resolve(stored.devices),
    countRemaining: () => Promise.resolve([]),
    countItems: async (cycleId, list) => of(cycleId, list).length,
    answers: async (cycleId, list) =>
      Buffer.from(
        of(cycleId, list)
          .map((id) => `${id},${stored.devices > 0 ? 3 : 5}\n`)
          .join(''),
      ),
    countKnown: async (cycleId, asked) => asked.filter((id) => of(cycleId, 'MAID').includes(id)).length,
    finish: () => Promise.resolve(),
  };
  return { port, stored };
}

function memoryErasures() {
  type Erasure = Awaited<ReturnType<CycleErasures['find']>>;
  const found = new Map<number, Erasure>();
  let last = 0;
  const port: CycleErasures = {
    begin: async () => {
      last += 1;
      found.set(last, { isDone: false, failure: null, erased: [] });
      return { id: last, listId: last };
    },
    cancel: () => Promise.resolve(),
    complete: () => Promise.resolve(),
    find: async (id) => found.get(id) ?? null,
  };
  return {
    port,
    /** Ends the most recent erasure, as workers do. */
    end: (failure: string | null): void => {
      const erased = [{ table: 'known_devices', shard: 1, rows: 1 }];
      found.set(last, { isDone: failure === null, failure, erased: failure === null ? erased : [] });
    },
  };
}
