import { z } from 'zod';
import type { AudienceScope } from '../../domain/audience.ts';
import type { Sealer, UploadTickets } from '../../ports/crypto.ts';

const content = z.object({
  filePath: z.string(),
  key: z.string(),
  bytes: z.int(),
  storageId: z.string(),
  mark: z.string(),
  expiresAt: z.iso.datetime().transform((text) => new Date(text)),
});

/**
 * The ID of an upload contains everything about it, encrypted and authenticated, so reading it needs no query. It can
 * only be read for the caller that it was issued to.
 */
export function sealedUploadTickets(sealer: Sealer): UploadTickets {
  return {
    issue: (scope, upload) => {
      const { keyId, bytes } = sealer.seal(JSON.stringify(upload), contextOf(scope));
      return `${keyId}.${Buffer.from(bytes).toString('base64url')}`;
    },
    read: (scope, uploadId) => {
      const [keyId = '', digits = '', ...rest] = uploadId.split('.');
      if (rest.length > 0) return null;
      const bytes = Buffer.from(digits, 'base64url');
      // Base64 decoding is lenient. An upload has exactly one ID.
      if (bytes.toString('base64url') !== digits) return null;
      const text = openOrNull(sealer, { keyId, bytes }, contextOf(scope));
      return text === null ? null : content.parse(JSON.parse(text));
    },
  };
}

function contextOf({ partnerId, customerId }: AudienceScope): string {
  return `upload of partner ${partnerId}, customer ${customerId ?? 'none'}`;
}

/** A text that cannot be opened was not issued to this caller. */
function openOrNull(sealer: Sealer, sealed: Parameters<Sealer['open']>[0], context: string): string | null {
  try {
    return sealer.open(sealed, context);
  } catch {
    return null;
  }
}
