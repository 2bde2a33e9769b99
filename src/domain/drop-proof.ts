import type { ProofSignature, RemainingRows } from './erasure.ts';

type ErasedRows = { readonly table: string; readonly shard: number; readonly rows: number };

type Facts = {
  readonly cycleId: number;
  readonly archive: { readonly name: string; readonly bytes: number; readonly sha256: string };
  readonly lists: readonly { readonly name: string; readonly items: number; readonly invalidLines: number }[];
  readonly policy: { readonly shared: string; readonly other_lists: string };
  readonly devicesFound: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly erasureIds: readonly number[];
  readonly erased: readonly ErasedRows[];
  readonly remaining: readonly RemainingRows[];
  readonly uploads: readonly {
    readonly name: string;
    readonly items: number;
    readonly bytes: number;
    readonly sha256: string;
    readonly acceptedAt: Date | null;
    readonly message: string | null;
  }[];
  readonly downloadedAt: Date;
  readonly verifiedAt: Date;
  readonly finishedAt: Date;
};

/**
 * The proof of a cycle. It has the same form as the proofs of the erasures, to which it refers. Digests are SHA-256, in
 * hexadecimal.
 */
type DropProof = ReturnType<typeof dropProofOf>;

export type SignedDropProof = DropProof & { readonly signature: ProofSignature | null };

export function dropProofOf(facts: Facts) {
  const { archive } = facts;
  return {
    format: 'inlet-drop-proof-1' as const,
    cycle_id: facts.cycleId,
    archive_name: archive.name,
    archive_bytes: archive.bytes,
    archive_sha256: archive.sha256,
    lists: facts.lists.map(({ name, items, invalidLines }) => ({ name, items, invalid_lines: invalidLines })),
    policy: { shared: facts.policy.shared, other_lists: facts.policy.other_lists },
    devices_erased: facts.devicesFound,
    items_by_status: facts.statuses,
    deletion_ids: facts.erasureIds,
    erased: sumOf(facts.erased).map(({ table, shard, rows }) => ({ table, shard, rows_erased: rows })),
    remaining: facts.remaining.map(({ table, shard, replica, rows }) => ({
      table,
      shard,
      replica,
      rows_remaining: rows,
    })),
    uploads: facts.uploads.map(({ name, items, bytes, sha256, acceptedAt, message }) => ({
      name,
      items,
      bytes,
      sha256,
      accepted_at: acceptedAt?.toISOString() ?? null,
      receipt: message,
    })),
    downloaded_at: facts.downloadedAt.toISOString(),
    verified_at: facts.verifiedAt.toISOString(),
    finished_at: facts.finishedAt.toISOString(),
  };
}

/** Adds up the rows per table, because the erasures of several rounds count the same tables. */
function sumOf(erased: readonly ErasedRows[]): ErasedRows[] {
  const byTable = Map.groupBy(erased, ({ table, shard }) => `${table} ${shard}`);
  return [...byTable.values()].flatMap(([first, ...others]) =>
    first ? [{ ...first, rows: others.reduce((sum, { rows }) => sum + rows, first.rows) }] : [],
  );
}
