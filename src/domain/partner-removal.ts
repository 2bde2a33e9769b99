import type { ProofSignature } from './erasure.ts';
import { Failure } from './failure.ts';
import type { PartnerId } from './ids.ts';
import type { Partner } from './partner.ts';

/**
 * The steps of a removal. Each can be repeated. The first step starts at the point of no return, when the partner's keys
 * have ended.
 *
 * - `wait`: its jobs end.
 * - `storage`: its storage user and its objects are removed.
 * - `rows`: its rows in ClickHouse are removed.
 * - `records`: its records in PostgreSQL are removed.
 * - `devices`: devices that only this partner imported are no longer known, and the device index forgets them.
 * - `verify`: what remains is counted on every server.
 * - `clean`: the engine deletes the files of replaced parts.
 */
const removalSteps = ['wait', 'storage', 'rows', 'records', 'devices', 'verify', 'clean', 'done'] as const;
export type RemovalStep = (typeof removalSteps)[number];

export function toRemovalStep(text: string): RemovalStep {
  const step = removalSteps.find((one) => one === text);
  if (step === undefined) throw new Error(`"${text}" is not a step of a removal`);
  return step;
}

/**
 * The number of rows or objects in one place. `replica` is null if the shard is counted as a whole and not per replica.
 */
export type PlaceCount = {
  readonly store: 'postgresql' | 'clickhouse' | 'storage';
  readonly place: string;
  readonly shard: number | null;
  readonly replica: number | null;
  readonly count: number;
};

export type Removal = {
  readonly partnerId: PartnerId;
  readonly name: string;
  readonly prefix: string;
  readonly hasStorageUser: boolean;
  readonly step: RemovalStep;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly removed: readonly PlaceCount[];
  readonly remaining: readonly PlaceCount[];
  readonly removedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly proof: SignedRemovalProof | null;
};

export function unfinishedOf(removal: Removal | null): Removal | null {
  return removal?.step === 'done' ? null : removal;
}

/** The form of a partner ID as a confirmation. */
export const partnerIdPattern = /^[1-9]\d{0,14}$/;

/** A removal that has begun, or a partner that exists. */
export type RemovalTarget =
  | { readonly is: 'begun'; readonly removal: Removal }
  | { readonly is: 'partner'; readonly partner: Partner };

type Known = {
  /** The partner that has the name now. */
  readonly partner: Partner | null;
  /** The unfinished removal of a partner with this name, or else the last one. */
  readonly last: Removal | null;
  /** The removal of a partner with this name whose ID was given as the confirmation. */
  readonly confirmed: Removal | null;
};

/**
 * Decides which partner a confirmed command is about. The confirmation is the name or the ID of the partner. After a
 * partner has been removed, another one can have its name. In that case, only the ID is accepted.
 */
export function removalTargetOf(name: string, confirm: string, { partner, last, confirmed }: Known): RemovalTarget {
  const isConfirmed = (id: PartnerId): boolean => confirm === String(id);
  const isName = confirm === name;
  const open = unfinishedOf(last);
  if (open && (isName || isConfirmed(open.partnerId))) return { is: 'begun', removal: open };
  if (confirmed) return { is: 'begun', removal: confirmed };
  if (open) {
    const how = `The removal of the partner "${name}" with the ID ${open.partnerId} is not finished. Pass --confirm ${open.partnerId} to continue it first.`;
    throw new Failure('invalid_request', how);
  }
  if (partner && (isConfirmed(partner.id) || (isName && !last))) return { is: 'partner', partner };
  if (isName && partner && last) {
    const which = `The partner "${name}" with the ID ${last.partnerId} was removed, and another partner with the ID ${partner.id} has its name now.`;
    const how = `Pass --confirm ${partner.id} to remove the other partner, or --confirm ${last.partnerId} to write the proof again.`;
    throw new Failure('invalid_request', `${which} ${how}`);
  }
  if (isName && last) return { is: 'begun', removal: last };
  const what = isName
    ? `Partner "${name}" does not exist.`
    : `No partner with the ID ${confirm} has or had the name "${name}".`;
  throw new Failure('not_found', what);
}

/** A partner's unfinished work. */
export type OpenWork = {
  readonly jobs: number;
  /** Canceled jobs whose staged rows a worker has not removed yet. */
  readonly canceledJobs: number;
  /** Exports of rejected rows that a worker holds. */
  readonly exports: number;
  readonly erasures: number;
  readonly repairs: number;
  /** The time until which an interrupted repair counts as running. */
  readonly repairsEndAt: Date | null;
};

/** Returns one text for each kind of open work. */
export function describeOpenWork(work: OpenWork): readonly string[] {
  const kinds: readonly (readonly [number, string])[] = [
    [work.jobs, 'open jobs'],
    [work.canceledJobs, 'canceled jobs that a worker has not cleaned up'],
    [work.exports, 'exports of rejected rows that a worker has not ended'],
    [work.erasures, 'open erasures'],
    [work.repairs, 'loads of `inlet repair`'],
  ];
  const waits = kinds.flatMap(([count, what]) => (count > 0 ? [`${what}: ${count}`] : []));
  const until = work.repairsEndAt?.toISOString();
  return until === undefined ? waits : [...waits, `an interrupted repair is ignored from ${until}`];
}

/** A repeated step finds less than it did the first time, so the highest count for each place is kept. */
export function mergeCounts(before: readonly PlaceCount[], found: readonly PlaceCount[]): PlaceCount[] {
  const merged = new Map<string, PlaceCount>();
  for (const one of [...before, ...found]) {
    const key = [one.store, one.place, one.shard, one.replica].join('|');
    const known = merged.get(key);
    if (!known || known.count < one.count) merged.set(key, one);
  }
  return [...merged.values()];
}

/** If rows remain, the removal starts over, because a load can have published them in the meantime. */
export function stepAfterVerify(remaining: readonly PlaceCount[]): RemovalStep {
  return remaining.some(({ count }) => count > 0) ? 'storage' : 'clean';
}

/** What is kept on purpose, and until when. */
const kept = [
  'the audit log, until INLET_AUDIT_LOG_DAYS have passed',
  'this record of the removal',
  'backups that were taken earlier',
] as const;

type ProofPlace = Omit<PlaceCount, 'count'>;

/** What is proved. The field names are part of the format, which docs/operators/partners.md describes. */
export type RemovalProof = {
  readonly format: 'inlet-removal-proof-1';
  readonly partner_id: number;
  readonly partner: string;
  readonly prefix: string;
  readonly requested_by: string;
  readonly requested_at: string;
  readonly removed_at: string;
  readonly finished_at: string;
  /** `removed_by_operator` if Inlet does not manage the users of this storage. */
  readonly storage_user: 'removed' | 'removed_by_operator';
  readonly removed: readonly (ProofPlace & { readonly removed: number })[];
  readonly remaining: readonly (ProofPlace & { readonly remaining: number })[];
  readonly kept: readonly string[];
};

/** `signature` is null if no key is configured. */
export type SignedRemovalProof = RemovalProof & { readonly signature: ProofSignature | null };

export function removalProofOf(removal: Removal, removedAt: Date, finishedAt: Date): RemovalProof {
  return {
    format: 'inlet-removal-proof-1',
    partner_id: removal.partnerId,
    partner: removal.name,
    prefix: removal.prefix,
    requested_by: removal.requestedBy,
    requested_at: removal.requestedAt.toISOString(),
    removed_at: removedAt.toISOString(),
    finished_at: finishedAt.toISOString(),
    storage_user: removal.hasStorageUser ? 'removed' : 'removed_by_operator',
    removed: removal.removed.map(({ count, ...place }) => ({ ...place, removed: count })),
    remaining: removal.remaining.map(({ count, ...place }) => ({ ...place, remaining: count })),
    kept,
  };
}
