import type { BatchScope } from '../../../ports/erasure.ts';

/** The list of devices that a running erasure removes. */
export const listTable = 'erased_devices_local';

/** What a row of the list stands for. */
export const listKind = {
  requested: 0,
  /** Devices that are no longer known. */
  unknown: 1,
  /** Devices without any row, whose number is removed. */
  unnumbered: 2,
  /** Rejected lines that are erased. */
  reject: 3,
  /** Rejected lines with a requested device, of any partner. */
  foundReject: 4,
  /** Stand-ins of requested devices that were suppressed when they were imported. */
  standIn: 5,
} as const;

export const zeroDevice = `toUUID('00000000-0000-0000-0000-000000000000')`;

/** IDs are written into statements, because a mutation keeps its text and cannot have parameters that change. */
export function checkedId(id: number): number {
  if (!Number.isSafeInteger(id) || id < 0) throw new TypeError(`${id} is not an ID`);
  return id;
}

export function listed(listId: number, ...kinds: readonly number[]): string {
  return `batch_id = ${checkedId(listId)} AND kind IN (${kinds.join()})`;
}

/** The requested devices and their stand-ins. */
export function isRequested(listId: number): string {
  return listed(listId, listKind.requested, listKind.standIn);
}

/** A condition for rows with one of the listed devices, of any partner. */
export function hasDevice(listId: number, kind: number): string {
  return `device IN (SELECT device FROM ${listTable} WHERE ${listed(listId, kind)})`;
}

/** A condition for rows with one of the requested devices or their stand-ins, of any partner. */
export function hasRequested(listId: number): string {
  return `device IN (SELECT device FROM ${listTable} WHERE ${isRequested(listId)})`;
}

/** A condition for the rows that are erased in a table with the columns `partner_id` and `device`. */
export function isErased({ listId, partnerIds }: BatchScope): string {
  if (partnerIds === null) return hasRequested(listId);
  // The list of partners restricts the partitions that are read.
  return `partner_id IN (${partnerIds.map(checkedId).join()}) AND (partner_id, device) IN (
    SELECT partner_id, device FROM ${listTable} WHERE ${isRequested(listId)})`;
}

/** A condition for the rejected lines that are erased. */
export function isErasedReject({ listId }: BatchScope): string {
  return `(load_id, file_id, row) IN (
    SELECT load_id, file_id, row FROM ${listTable} WHERE ${listed(listId, listKind.reject)})`;
}
