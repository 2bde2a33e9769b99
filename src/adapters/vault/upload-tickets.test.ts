import { describe, expect, it } from 'vitest';
import { Secret } from '../../domain/secret.ts';
import { aesGcmSealer } from './aes-gcm-sealer.ts';
import { sealedUploadTickets } from './upload-tickets.ts';

const key = (id: string, digit: string): Secret => new Secret(`${id}:${digit.repeat(64)}`);
const tickets = sealedUploadTickets(aesGcmSealer([key('a', '1')]));
const scope = { partnerId: 1, customerId: null };
const upload = {
  filePath: 'a.csv',
  key: 'acme/a.csv',
  bytes: 5,
  storageId: '2~abc',
  mark: 'ce8b29a4',
  expiresAt: new Date('2026-11-19T00:00:00Z'),
};

describe('the ID of an upload', () => {
  const uploadId = tickets.issue(scope, upload);

  it('contains the upload, which only the same caller can read', () => {
    expect(tickets.read(scope, uploadId)).toEqual(upload);
    expect(tickets.read({ partnerId: 2, customerId: null }, uploadId)).toBeNull();
    expect(tickets.read({ partnerId: 1, customerId: 1 }, uploadId)).toBeNull();
  });

  it('reveals nothing and fits into a path', () => {
    expect(uploadId).toMatch(/^a\.[\w-]+$/);
    expect(Buffer.from(uploadId, 'base64url').toString('latin1')).not.toContain('acme');
    const longest = { ...upload, filePath: 'é'.repeat(510), key: 'x'.repeat(1024), storageId: 'u'.repeat(256) };
    expect(tickets.issue(scope, longest).length).toBeLessThan(4_000);
  });

  it.each(['', '.', 'a', 'a.', 'b.AAAA', `${uploadId}.x`, `${uploadId}=`, uploadId.slice(0, -2), 'a.'.padEnd(60, 'A')])(
    'is not %j',
    (text) => {
      expect(tickets.read(scope, text)).toBeNull();
    },
  );

  it('cannot be changed at any position', () => {
    for (let at = 0; at < uploadId.length; at++) {
      const other = uploadId[at] === 'A' ? 'B' : 'A';
      expect(tickets.read(scope, uploadId.slice(0, at) + other + uploadId.slice(at + 1))).toBeNull();
    }
  });

  it('stays valid after the sealing key is rotated', () => {
    const rotated = sealedUploadTickets(aesGcmSealer([key('b', '2'), key('a', '1')]));
    expect(rotated.read(scope, uploadId)).toEqual(upload);
  });
});
