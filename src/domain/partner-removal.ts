import type { PartnerId } from './ids.ts';
import type { ProofSignature } from './erasure.ts';

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

/** The number of rows or objects in one place. `replica` is null if the replicas of the shard are counted once. */
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

/** A step that is repeated finds less than the first time, so the highest count of each place is kept. */
export function mergeCounts(before: readonly PlaceCount[], found: readonly PlaceCount[]): PlaceCount[] {
  const merged = new Map<string, PlaceCount>();
  for (const one of [...before, ...found]) {
    const key = [one.store, one.place, one.shard, one.replica].join('|');
    const known = merged.get(key);
    if (!known || known.count < one.count) merged.set(key, one);
  }
  return [...merged.values()];
}

/** After rows remained, the removal starts over, because a load can have published them in the meantime. */
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
