import { randomKeys } from '../../src/adapters/vault/random-keys.ts';
import { rememberSecrets } from './known-secrets.ts';
import { withDatabase, type TestStores } from './stores.ts';

/** Another API key of a partner. */
export async function addApiKey(stores: TestStores, partnerId: number): Promise<string> {
  const { key, hash } = randomKeys('apiKey', 'test').issue();
  await withDatabase(stores, (client) =>
    client.query('INSERT INTO api_key (partner_id, key_hash) VALUES ($1, $2)', [partnerId, Buffer.from(hash)]),
  );
  rememberSecrets(key.reveal());
  return key.reveal();
}
