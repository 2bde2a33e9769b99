import type { ApiKey } from '../../../domain/api-key.ts';
import { toScopes } from '../../../domain/caller.ts';

/** All but the hash. */
export const shownColumns = [
  'id',
  'name',
  'scopes',
  'created_at as createdAt',
  'last_used_at as lastUsedAt',
  'expires_at as expiresAt',
  'revoked_at as revokedAt',
] as const;

export function toApiKey(row: Omit<ApiKey, 'scopes'> & { readonly scopes: readonly string[] | null }): ApiKey {
  return { ...row, scopes: toScopes(row.scopes) };
}
