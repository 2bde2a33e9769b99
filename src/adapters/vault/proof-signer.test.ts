import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { proofOf, signedText } from '../../domain/erasure.ts';
import { Secret } from '../../domain/secret.ts';
import { ed25519ProofSigner } from './proof-signer.ts';

const at = new Date(0);
const { proof } = proofOf(
  { batchId: 1, startedAt: at, erasedAt: at, finishedAt: at, erased: [], remaining: [] },
  { id: 1, partnerId: null, ids: 1, invalidLines: 0, idsSalt: '', idsDigest: '', requestedAt: at },
  () => '',
);

describe('ed25519ProofSigner', () => {
  it('uses the key pair of the seed (RFC 8032, test 1)', () => {
    const seed = new Secret('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');
    const expected = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
    expect(Buffer.from(ed25519ProofSigner(seed).publicKey ?? '', 'base64').toString('hex')).toBe(expected);
  });

  it('signs a proof so that any change to it is detected', () => {
    const signature = ed25519ProofSigner(new Secret('ab'.repeat(32))).sign(proof);
    const x = Buffer.from(signature?.public_key ?? '', 'base64').toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const value = Buffer.from(signature?.value ?? '', 'base64');
    expect(verify(null, Buffer.from(signedText(proof)), key, value)).toBe(true);
    expect(verify(null, Buffer.from(signedText({ ...proof, ids: 2 })), key, value)).toBe(false);
    // A proof without its salt can be passed on.
    expect(verify(null, Buffer.from(signedText({ ...proof, ids_salt: '' })), key, value)).toBe(true);
  });

  it('does not sign a proof if there is no key', () => {
    expect(ed25519ProofSigner(undefined).sign(proof)).toBeNull();
  });
});
