import type { NewApiKey } from '../../src/domain/api-key.ts';
import { createApiKey } from '../../src/usecases/admin/manage-keys.ts';
import { rememberSecrets } from './known-secrets.ts';
import type { Wired } from './wired.ts';

const plain: NewApiKey = { name: '', scopes: null, livesSeconds: null };

/** Creates another API key for a partner. */
export async function addApiKey(
  deps: Wired,
  partner: { readonly name: string },
  wish: Partial<NewApiKey> = {},
): Promise<{ readonly id: number; readonly apiKey: string }> {
  const { key, made } = await createApiKey(deps, partner.name, { ...plain, ...wish });
  rememberSecrets(key.reveal());
  return { id: made.id, apiKey: key.reveal() };
}
