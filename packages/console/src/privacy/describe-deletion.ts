import type { Deletion } from '@inlet/sdk/browser';
import { formatCount } from '../format.ts';

export function isOpen({ status }: Pick<Deletion, 'status'>): boolean {
  return status < 2;
}

const waits: Readonly<Record<NonNullable<Deletion['waiting_for']>, string>> = {
  loads: 'Waiting for earlier imports to finish.',
  index: 'Waiting for the device index to be updated.',
  servers: 'A server is unavailable or returned an error. The deletion is tried again.',
  replaced_parts: 'Waiting for replaced data to be removed from the disks, which takes about ten minutes.',
  detached_parts: 'Waiting for your operator to remove data that was set aside.',
};

/** Why a deletion does not continue yet, or why it failed. */
export function noteOf({ waiting_for, error }: Pick<Deletion, 'waiting_for' | 'error'>): string {
  if (error) return error.message;
  return waiting_for === null ? '' : waits[waiting_for];
}

/** `1,200, 3 lines skipped` */
export function devicesOf(deletion: Pick<Deletion, 'status' | 'source' | 'ids' | 'invalid_lines'>): string {
  const { source, ids, invalid_lines: skipped } = deletion;
  if (source === 'file' && ids === 0 && skipped === 0 && isOpen(deletion)) return 'not counted yet';
  return `${formatCount(ids)}${skipped === 0 ? '' : `, ${formatCount(skipped)} ${skipped === 1 ? 'line' : 'lines'} skipped`}`;
}
