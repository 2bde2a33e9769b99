import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../domain/secret.ts';
import { requestFingerprint } from './keys.ts';

const one = new Secret(`one:${'ab'.repeat(32)}`);
const two = new Secret(`two:${'cd'.repeat(32)}`);
const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex');

describe('requestFingerprint', () => {
  it('depends only on the request and the sealing key', () => {
    const [mine] = requestFingerprint([one])('request');
    expect(hex(requestFingerprint([one])('request')[0])).toBe(hex(mine));
    expect(hex(requestFingerprint([one])('request ')[0])).not.toBe(hex(mine));
    expect(hex(requestFingerprint([two])('request')[0])).not.toBe(hex(mine));
  });

  it('the fingerprint differs from a plain hash of the request', () => {
    const [mine] = requestFingerprint([one])('request');
    expect(hex(mine)).not.toBe(createHash('sha256').update('request').digest('hex'));
    expect(hex(mine)).toHaveLength(64);
  });

  it('recognizes a request after the sealing key is rotated', () => {
    const [before] = requestFingerprint([one])('request');
    const [current, older] = requestFingerprint([two, one])('request');
    expect(hex(older)).toBe(hex(before));
    expect(hex(current)).not.toBe(hex(before));
  });

  it('requires a sealing key', () => {
    expect(() => requestFingerprint([])).toThrow('Request fingerprints need a key');
  });
});
