import { randomBytes } from 'node:crypto';
import { Secret } from '../../domain/secret.ts';
import type { WebhookSecrets } from '../../ports/crypto.ts';

/** Standard Webhooks requires 24 to 64 bytes. */
const secretBytes = 32;

export const randomWebhookSecrets: WebhookSecrets = {
  issue: () => new Secret(`whsec_${randomBytes(secretBytes).toString('base64')}`),
};
