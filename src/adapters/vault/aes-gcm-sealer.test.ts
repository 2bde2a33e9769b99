import { describe, expect, it } from 'vitest';
import { Secret } from '../../domain/secret.ts';
import { aesGcmSealer } from './aes-gcm-sealer.ts';

const [one, two] = [new Secret(`one:${'ab'.repeat(32)}`), new Secret(`two:${'cd'.repeat(32)}`)];
const text = '{"secretAccessKey":"hunter2-größe"}';
const context = 'partner 1 job 2';

describe('a sealed value', () => {
  const sealer = aesGcmSealer([one]);

  it('hides the plaintext and opens the sealed value in the same context', () => {
    const sealed = sealer.seal(text, context);
    expect(sealer.open(sealed, context)).toBe(text);
    expect(Buffer.from(sealed.bytes).toString('latin1')).not.toContain('hunter2');
  });

  it.each(['partner 1 job 3', 'partner 2 job 2', ''])(
    'does not open a sealed value in another context: %j',
    (other) => {
      expect(() => sealer.open(sealer.seal(text, context), other)).toThrow('unable to authenticate data');
    },
  );

  it('does not open a sealed value if any bit was changed', () => {
    const { keyId, bytes } = sealer.seal(text, context);
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => sealer.open({ keyId, bytes: changed }, context), `byte ${index}`).toThrow(
        'unable to authenticate data',
      );
    }
  });

  it('does not open a truncated sealed value', () => {
    const { keyId, bytes } = sealer.seal(text, context);
    const [withoutText, whole] = [12 + 16, bytes.length];
    for (let length = withoutText; length < whole; length += 1) {
      expect(() => sealer.open({ keyId, bytes: bytes.subarray(0, length) }, context), `${length} bytes`).toThrow(
        'unable to authenticate data',
      );
    }
  });

  it('does not open a sealed value with a shortened authentication tag, which would be easier to guess', () => {
    const { keyId, bytes } = sealer.seal('', context);
    for (let length = 12; length < 12 + 16; length += 1) {
      expect(() => sealer.open({ keyId, bytes: bytes.subarray(0, length) }, context), `${length} bytes`).toThrow(
        'Invalid authentication tag length',
      );
    }
  });

  it('never repeats a nonce', () => {
    const sealed = Array.from({ length: 1_000 }, () => Buffer.from(sealer.seal(text, context).bytes));
    expect(new Set(sealed.map((bytes) => bytes.subarray(0, 12).toString('hex'))).size).toBe(1_000);
  });
});

describe('sealing keys', () => {
  it('seals with the first key and still opens values that an older key sealed', () => {
    const sealedBefore = aesGcmSealer([one]).seal(text, context);
    const changed = aesGcmSealer([two, one]);
    expect(changed.open(sealedBefore, context)).toBe(text);
    expect([sealedBefore.keyId, changed.seal(text, context).keyId]).toEqual(['one', 'two']);
  });

  it('opens a value only with the key that sealed it and names a missing key in the error', () => {
    const sealed = aesGcmSealer([one]).seal(text, context);
    expect(() => aesGcmSealer([two]).open(sealed, context)).toThrow('The sealing key "one" is not configured');
    expect(() => aesGcmSealer([two]).open({ ...sealed, keyId: 'two' }, context)).toThrow('unable to authenticate data');
  });

  it('requires at least one sealing key', () => {
    expect(() => aesGcmSealer([])).toThrow('No sealing key is configured');
  });
});
