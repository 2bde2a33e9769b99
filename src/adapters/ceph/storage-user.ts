import { z } from 'zod';
import type { AdminResponse } from './signed-request.ts';

export const keysSchema = z.array(z.object({ access_key: z.string(), secret_key: z.string() })).min(1);
export const userSchema = z.object({ keys: keysSchema });

const successStatuses = new Set([200, 201, 204]);

/** Each partner has a user of its own. */
export function storageUserOf(partnerName: string): string {
  return `partner-${partnerName}`;
}

/** The response text may contain keys, so the error names only the status. */
export function requireSuccess(response: AdminResponse, what: string): void {
  if (!successStatuses.has(response.status))
    throw new Error(`Cannot ${what}: the storage returned HTTP ${response.status}.`);
}
