import { Failure } from './failure.ts';
import { canonicalJson } from './idempotency.ts';
import type { PartnerId } from './ids.ts';
import type { JobStatus } from './job.ts';

// Erasure removes every row of a device physically, counts what is left on every replica, and proves the result.

/** Maximum number of IDs in the body of a request. Longer lists are sent as a file. */
export const maxIdsPerRequest = 1_000;

/** Maximum number of lines in a file of IDs. A mutation keeps the IDs of a batch in memory. */
export const maxIdsPerFile = 10_000_000;

/** Maximum size of a file of IDs, as stored. */
export const maxIdFileBytes = 1_000_000_000;

/** Checks a list before it is copied to the other shards. At most one ID more than the limit has been read. */
export function requireListLength(ids: number, maxIds = maxIdsPerFile): void {
  if (ids === 0) throw new Failure('invalid_id_list', 'The list contains no device ID.');
  if (ids > maxIds) throw new Failure('invalid_id_list', `The list contains more than ${maxIds} device IDs. Split it.`);
}

export function requireListSize(bytes: number): void {
  if (bytes > maxIdFileBytes)
    throw new Failure('invalid_id_list', `The list is larger than ${maxIdFileBytes} bytes. Split it.`);
}

/** Maximum number of unfinished requests per partner. */
export const maxOpenErasures = 100;

/** Maximum number of requests in a batch. A batch contains at most one request with a file. */
export const maxRequestsPerBatch = 1_000;

/**
 * The steps of a batch, in order. An interrupted step is repeated from its start.
 *
 * - `receive`: an operator's command is sending the list. No worker claims the batch.
 * - `list`: the list of devices is written to every shard.
 * - `wait`: loads that started before the batch are still being published.
 * - `count`: the rows to erase are counted for the proof.
 * - `erase`: the rows are removed on every replica.
 * - `settle`: loads that started before the rows were removed can have read them, and are still being published.
 * - `index`: the known devices and the device index forget the devices.
 * - `verify`: the remaining rows are counted on every replica.
 * - `clean`: the list is dropped, and the engine deletes the files of replaced parts.
 */
export const erasureSteps = [
  'receive',
  'list',
  'wait',
  'count',
  'erase',
  'settle',
  'index',
  'verify',
  'clean',
  'done',
] as const;
export type ErasureStep = (typeof erasureSteps)[number];

/**
 * Returns the stored lists to drop, because an interrupted worker can leave one behind. Read the stored lists before
 * the open batches, because a batch exists before its list. `ended` is a list that is no longer needed although its
 * batch is open.
 */
export function listsToDrop(stored: readonly number[], open: readonly number[], ended: number | null): number[] {
  return [...new Set(stored)].filter((list) => list === ended || !open.includes(list));
}

/**
 * Whether the list that the mutations read is gone or incomplete. Without it, an erasure would find no rows and would
 * seem complete. A restored backup can lack the list on one shard or all shards.
 */
export function isListLost(idsOfShards: readonly number[]): boolean {
  return new Set(idsOfShards).size !== 1 || idsOfShards.includes(0);
}

export type ErasureSource =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  | { readonly kind: 'file'; readonly key: string }
  /** An operator's command has written the list. */
  | { readonly kind: 'received' }
  /** The sealed IDs cannot be opened. */
  | { readonly kind: 'unreadable' };

/**
 * Why a request fails before its list is written, or null. One request that can never be listed must not delay the
 * others. A list that came from an operator's command cannot be written again.
 */
export function failureOfSource(source: ErasureSource, isLost: boolean): Failure | null {
  if (source.kind === 'unreadable')
    return new Failure('invalid_id_list', 'The IDs cannot be decrypted with the configured keys. Request it again.');
  if (source.kind === 'received' && isLost)
    return new Failure('invalid_id_list', 'The list of device IDs was lost. Request the erasure again.');
  return null;
}

/** What a running erasure waits for, if it cannot continue. */
export const erasureWaits = ['loads', 'index', 'servers', 'replaced_parts', 'detached_parts'] as const;
export type ErasureWait = (typeof erasureWaits)[number];

/** The time between two tries. Files of replaced parts exist for minutes, and detached parts until an operator acts. */
export const waitSeconds: Readonly<Record<ErasureWait, number>> = {
  loads: 1,
  index: 1,
  servers: 10,
  replaced_parts: 5,
  detached_parts: 30,
};

/** A batch that has not ended, as the next claim finds it. `isDue` is false while a worker holds it or while it pauses. */
export type OpenBatch = { readonly id: number; readonly isDue: boolean; readonly waitsFor: ErasureWait | null };

/** Maximum number of batches that can wait for loads at the same time. Each of them has a list in the engine. */
export const maxOpenBatches = 16;

/**
 * The batch to continue, or `new` to start one. Only one worker runs a batch at a time. While all open batches wait for
 * loads, other partners' requests start. They do not start while a batch waits for anything else, for example for files
 * to be deleted, so that all requests that arrive in these minutes share their mutations.
 */
export function nextBatch(open: readonly OpenBatch[]): number | 'new' | null {
  if (open.some(({ isDue, waitsFor }) => !isDue && waitsFor === null)) return null;
  const due = open.find(({ isDue }) => isDue);
  if (due) return due.id;
  return open.length < maxOpenBatches && open.every(({ waitsFor }) => waitsFor === 'loads') ? 'new' : null;
}

/** The rows of a table on a shard that were erased. `partnerId` is 0 for tables without partners. */
export type ErasedRows = {
  readonly table: string;
  readonly shard: number;
  readonly partnerId: PartnerId;
  readonly rows: number;
};

/** The rows of a table that still contain an erased device, on one replica of a shard. */
export type RemainingRows = {
  readonly table: string;
  readonly shard: number;
  readonly replica: number;
  readonly rows: number;
};

/** A request to erase devices, as its requester sees it. */
export type Erasure = {
  readonly id: number;
  readonly status: JobStatus;
  readonly isFile: boolean;
  readonly ids: number;
  readonly invalidLines: number;
  readonly waitingFor: ErasureWait | null;
  readonly failure: { readonly code: string; readonly detail: string } | null;
  readonly hasProof: boolean;
  readonly requestedAt: Date;
  readonly finishedAt: Date | null;
};

/**
 * The next step after all loads that could publish an erased device have been published, or null until then. The known
 * devices are erased only after `settle`, because such a load adds them last.
 */
export function stepAfterLoads(
  step: 'wait' | 'settle',
  loads: { readonly open: number; readonly staged: number },
): 'count' | 'index' | null {
  if (loads.open > 0 || loads.staged > 0) return null;
  return step === 'wait' ? 'count' : 'index';
}

/**
 * The next step after the rows have been counted on every replica. Rows that were published in the meantime are erased
 * in another round.
 */
export function stepAfterCount(remaining: readonly RemainingRows[]): 'count' | 'clean' {
  return remaining.some(({ rows }) => rows > 0) ? 'count' : 'clean';
}

/**
 * The number of erased device rows for each partner. Some tables have no partners, and rejected lines are not devices.
 */
export function erasedByPartner(
  found: readonly ErasedRows[],
): { readonly partnerId: PartnerId; readonly rows: number }[] {
  const ofPartners = Map.groupBy(found, ({ partnerId }) => partnerId);
  return [...ofPartners].flatMap(([partnerId, counts]) => {
    const ofDevices = counts.filter(({ table }) => table !== 'load_rejects');
    return partnerId > 0 ? [{ partnerId, rows: ofDevices.reduce((sum, { rows }) => sum + rows, 0) }] : [];
  });
}

/** Adds the rows of another round. */
export function addErased(earlier: readonly ErasedRows[], found: readonly ErasedRows[]): ErasedRows[] {
  const keyOf = ({ table, shard, partnerId }: ErasedRows): string => `${table} ${shard} ${partnerId}`;
  return [...Map.groupBy([...earlier, ...found], keyOf).values()].flatMap((counts) => {
    const [first] = counts;
    return first ? [{ ...first, rows: counts.reduce((sum, { rows }) => sum + rows, 0) }] : [];
  });
}

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const zeroId = '00000000-0000-0000-0000-000000000000';

/** Returns the ID as it is stored, or null if the text is not a device ID. Accepts IDs without hyphens. */
export function toErasedId(text: string): string | null {
  const lower = text.trim().toLowerCase();
  const id = /^[0-9a-f]{32}$/.test(lower)
    ? lower.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    : lower;
  return idPattern.test(id) && id !== zeroId ? id : null;
}

/** Validates the IDs of a request. Returns each of them once, in order. */
export function toErasedIds(texts: readonly string[]): string[] {
  const ids = texts.map((text, index) => {
    const id = toErasedId(text);
    if (id !== null) return id;
    const detail = 'A device ID must have the form 8-4-4-4-12 hexadecimal digits and must not be all zeros.';
    throw new Failure('invalid_request', detail, { fields: [{ pointer: `/ids/${index}`, detail }] });
  });
  return [...new Set(ids)].toSorted();
}

/**
 * The text whose digest identifies a list. It contains each ID once, in lowercase and sorted, followed by a line feed.
 */
export function textOfIds(ids: readonly string[]): string {
  return ids.map((id) => `${id}\n`).join('');
}

/** The tables whose erased rows a partner's proof contains. The others would show what other partners hold. */
const partnerTables: ReadonlySet<string> = new Set(['device_attributes', 'audience_devices', 'load_rejects']);

type ProofTable = { readonly table: string; readonly shard: number; readonly rows_erased: number };
type ProofReplica = {
  readonly table: string;
  readonly shard: number;
  readonly replica: number;
  readonly rows_remaining: number;
};

/** What is proved. The field names are part of the format, which docs/privacy.md describes. */
export type ErasureProof = {
  readonly format: 'inlet-erasure-proof-1';
  readonly deletion_id: number;
  readonly batch_id: number;
  /** `partner`: the rows of this partner. `all`: the rows of every partner. */
  readonly scope: 'partner' | 'all';
  readonly partner_id: number | null;
  readonly ids: number;
  readonly invalid_lines: number;
  /** A salt, hashed before the list, so that the digest of a short list cannot be looked up. It is not signed. */
  readonly ids_salt: string;
  readonly ids_sha256: string;
  readonly requested_at: string;
  readonly started_at: string;
  readonly erased_at: string;
  readonly finished_at: string;
  readonly erased: readonly ProofTable[];
  readonly remaining: readonly ProofReplica[];
  /** The digest of the proof as CSV. */
  readonly csv_sha256: string;
};

export type ProofSignature = {
  readonly algorithm: 'Ed25519';
  /** The first 16 hexadecimal digits of the SHA-256 digest of the public key. */
  readonly key_id: string;
  /** The public key, 32 bytes, Base64. A verifier compares it with the key that the operator published. */
  readonly public_key: string;
  readonly value: string;
};

/** `signature` is null if no key is configured. */
export type SignedProof = ErasureProof & { readonly signature: ProofSignature | null };

export type FinishedErasure = {
  readonly id: number;
  readonly partnerId: PartnerId | null;
  readonly ids: number;
  readonly invalidLines: number;
  readonly idsSalt: string;
  readonly idsDigest: string;
  readonly requestedAt: Date;
};

export type FinishedBatch = {
  readonly batchId: number;
  readonly startedAt: Date;
  readonly erasedAt: Date;
  readonly finishedAt: Date;
  readonly erased: readonly ErasedRows[];
  readonly remaining: readonly RemainingRows[];
};

/** Returns the proof of one request, as CSV and as the record that is signed. `digest` is SHA-256, in hexadecimal. */
export function proofOf(
  batch: FinishedBatch,
  of: FinishedErasure,
  digest: (text: string) => string,
): { readonly csv: string; readonly proof: ErasureProof } {
  const isVisible = ({ table, partnerId }: ErasedRows): boolean =>
    of.partnerId === null || (partnerTables.has(table) && partnerId === of.partnerId);
  const visible = batch.erased.filter(isVisible).map((rows) => ({ ...rows, partnerId: of.partnerId ?? 0 }));
  const erased = addErased([], visible).map(({ table, shard, rows }) => ({ table, shard, rows_erased: rows }));
  const remaining = batch.remaining.map(({ table, shard, replica, rows }) => ({
    table,
    shard,
    replica,
    rows_remaining: rows,
  }));
  const csv = csvOf(erased, remaining);
  const proof: ErasureProof = {
    format: 'inlet-erasure-proof-1',
    deletion_id: of.id,
    batch_id: batch.batchId,
    scope: of.partnerId === null ? 'all' : 'partner',
    partner_id: of.partnerId,
    ids: of.ids,
    invalid_lines: of.invalidLines,
    ids_salt: of.idsSalt,
    ids_sha256: of.idsDigest,
    requested_at: of.requestedAt.toISOString(),
    started_at: batch.startedAt.toISOString(),
    erased_at: batch.erasedAt.toISOString(),
    finished_at: batch.finishedAt.toISOString(),
    erased,
    remaining,
    csv_sha256: digest(csv),
  };
  return { csv, proof };
}

function csvOf(erased: readonly ProofTable[], remaining: readonly ProofReplica[]): string {
  const lines = [
    'table,shard,replica,rows_erased,rows_remaining',
    ...erased.map(({ table, shard, rows_erased: rows }) => `${table},${shard},,${rows},`),
    ...remaining.map(({ table, shard, replica, rows_remaining: rows }) => `${table},${shard},${replica},,${rows}`),
  ];
  return lines.map((line) => `${line}\r\n`).join('');
}

/**
 * The text that is signed: the proof without its signature and without the salt, as JSON with sorted names and without
 * white space. Whoever gets a proof without its salt can verify it, but cannot check whether the list consists of a
 * certain ID.
 */
export function signedText(proof: object): string {
  return canonicalJson(Object.fromEntries(Object.entries(proof).filter(([name]) => name !== 'ids_salt')));
}
