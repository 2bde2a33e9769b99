import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { signedText } from '../../domain/erasure.ts';
import type { Secret } from '../../domain/secret.ts';
import type { ProofSigner } from '../../ports/erasure.ts';

/** The header of a PKCS #8 structure that contains an Ed25519 seed (RFC 8410). */
const pkcs8Header = Buffer.from('302e020100300506032b657004220420', 'hex');

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The key is the seed of an Ed25519 key pair, 64 hexadecimal digits. Without a key, proofs are not signed. */
export function ed25519ProofSigner(seed: Secret | undefined): ProofSigner & { readonly publicKey: string | null } {
  if (!seed) return { publicKey: null, digest, sign: () => null };
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8Header, Buffer.from(seed.reveal(), 'hex')]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    publicKey: publicKey.toString('base64'),
    digest,
    sign: (proof: object) => ({
      algorithm: 'Ed25519',
      key_id: createHash('sha256').update(publicKey).digest('hex').slice(0, 16),
      public_key: publicKey.toString('base64'),
      value: sign(null, Buffer.from(signedText(proof)), key).toString('base64'),
    }),
  };
}
