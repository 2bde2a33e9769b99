import type { PartnerId } from '../../domain/ids.ts';
import { Secret } from '../../domain/secret.ts';
import type { Sealed, Sealer } from '../../ports/crypto.ts';

type Owner = { readonly partnerId: PartnerId; readonly webhookId: number };

/** Binds the ciphertext to one webhook of one partner. A copy in another row cannot be decrypted. */
export function webhookSecretContext({ partnerId, webhookId }: Owner): string {
  return `partner ${partnerId} webhook ${webhookId}`;
}

export function sealWebhookSecret(sealer: Sealer, owner: Owner, secret: Secret): Sealed {
  return sealer.seal(secret.reveal(), webhookSecretContext(owner));
}

export function openWebhookSecret(sealer: Sealer, owner: Owner, sealed: Sealed): Secret {
  return new Secret(sealer.open(sealed, webhookSecretContext(owner)));
}
