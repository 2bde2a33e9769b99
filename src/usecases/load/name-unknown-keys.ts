import { keysOfStoredRow, unknownKeyMessage } from '@inlet/row-rule/unknown-key';
import type { PartnerId } from '../../domain/ids.ts';
import type { ImportLogError, KeyType } from '../../domain/import-log.ts';
import type { JobError } from '../../ports/lane-store.ts';
import type { LoadStage, RejectedRow } from '../../ports/load-stage.ts';
import type { Log } from '../../ports/observability.ts';
import type { AttributeStore } from '../../ports/partner-store.ts';

export type KeyNamingDeps = { readonly attributes: Pick<AttributeStore, 'findKeys'> };

/** PostgreSQL cannot store this character, so no key of a partner contains it. */
const notInAnyKey = '\0';

type KeyOwner = { readonly partnerId: PartnerId; readonly keyType: KeyType };

/**
 * Returns the messages of rows that were rejected with `unknown_key`. The keys are read from the stored text of the
 * rows, so that loads do not have to extract them.
 */
export async function nameUnknownKeys(
  { attributes }: KeyNamingDeps,
  { partnerId, keyType }: KeyOwner,
  rows: readonly RejectedRow[],
): Promise<ReadonlyMap<RejectedRow, string>> {
  const keysOfRows = rows
    .filter(({ reason }) => reason === 'unknown_key')
    .map((row) => ({ row, stored: keysOfStoredRow(row.text) }));
  const used = new Set(keysOfRows.flatMap(({ stored }) => stored.keys.filter((key) => !key.includes(notInAnyKey))));
  const known = used.size === 0 ? new Set() : await attributes.findKeys(partnerId, keyType, [...used]);
  return new Map(keysOfRows.map(({ row, stored }) => [row, unknownKeyMessage(stored, (key) => known.has(key))]));
}

/**
 * Names the key of the first row with an unknown key in each file. If a server does not respond, the messages stay as they
 * are, because a job must be able to end without them.
 */
export async function nameKeysOfErrors(
  deps: KeyNamingDeps & { readonly stage: Pick<LoadStage, 'listRejects'>; readonly log: Pick<Log, 'warn'> },
  owner: KeyOwner,
  errors: readonly JobError[],
): Promise<ImportLogError[]> {
  const byFile = await messagesOfFiles(deps, owner, errors).catch((error: unknown) => {
    deps.log.warn({ err: error, partnerId: owner.partnerId }, 'cannot name the unknown keys of a job');
    return new Map<number, string | undefined>();
  });
  return errors.map(({ code, message, file, row, column, count, fileId }) => {
    const named = code === 'unknown_key' ? byFile.get(fileId) : undefined;
    return { code, message: named ?? message, file, row, column, count };
  });
}

async function messagesOfFiles(
  deps: KeyNamingDeps & { readonly stage: Pick<LoadStage, 'listRejects'> },
  owner: KeyOwner,
  errors: readonly JobError[],
): Promise<ReadonlyMap<number, string | undefined>> {
  const withUnknownKey = errors.filter(({ code }) => code === 'unknown_key');
  const fileIds = withUnknownKey.map(({ fileId }) => fileId);
  if (fileIds.length === 0) return new Map();
  const rows = await deps.stage.listRejects({
    fileIds,
    loadIds: [...new Set(withUnknownKey.flatMap(({ loadId }) => loadId ?? []))],
    reason: 'unknown_key',
    after: { fileId: 0, row: 0 },
    limit: fileIds.length,
    rowsPerReason: 1,
  });
  const messages = await nameUnknownKeys(deps, owner, rows);
  return new Map(rows.map((row) => [row.fileId, messages.get(row)]));
}
