import { exportJWK, generateKeyPair, type JWK } from 'jose';

export type SigningKey = JWK & { readonly kid: string; readonly alg: string };

let serial = 0;

export async function newSigningKey(alg = 'ES256'): Promise<SigningKey> {
  serial += 1;
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: `key-${serial}`, alg, use: 'sig' };
}
