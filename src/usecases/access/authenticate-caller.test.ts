import { describe, expect, it } from 'vitest';
import { InvalidApiKey, scopes } from '../../domain/caller.ts';
import type { KeyHolder } from '../../ports/partner-store.ts';
import { authenticateCaller } from './authenticate-caller.ts';

const partner = { id: 5, name: 'acme', prefix: 'acme/' };
const valid: KeyHolder = { partner, keyId: 7, scopes, isValid: true, isSuspended: false, isUseDue: false };

/** A store that contains one key and counts lookups. */
function storeOf(holder: KeyHolder | null) {
  const seen = { lookups: 0, uses: new Array<number>() };
  const never = (): never => {
    throw new Error('must not be called');
  };
  const deps = {
    apiKeys: {
      issue: never,
      hash: (key: string) => Buffer.from(key),
      mayHaveIssued: (key: string) => key.startsWith('good'),
    },
    partners: {
      withNameLocked: never,
      create: never,
      findByName: never,
      readExternalId: never,
      readSettings: never,
      suspend: never,
      readSuspension: never,
      readDeviceRetention: never,
      resume: never,
      writeSettings: never,
      findByKeyHash: (hash: Uint8Array) => {
        seen.lookups += 1;
        return Promise.resolve(Buffer.from(hash).toString() === 'good' ? holder : null);
      },
    },
    access: { recordUse: (keyId: number) => void seen.uses.push(keyId) },
  };
  return { deps, seen };
}

const errorOf = (deps: Parameters<typeof authenticateCaller>[0], header: string | undefined): Promise<unknown> =>
  authenticateCaller(deps, header).catch((error: unknown) => error);

describe('authenticateCaller', () => {
  it('returns the caller that holds the key', async () => {
    const { deps, seen } = storeOf(valid);
    expect(await authenticateCaller(deps, 'Bearer good')).toEqual({ partner, keyId: 7, scopes });
    expect(await authenticateCaller(deps, 'bearer   good')).toEqual({ partner, keyId: 7, scopes });
    expect(seen).toEqual({ lookups: 2, uses: [] });
  });

  it('records the use of a key when its last recorded use is old', async () => {
    const { deps, seen } = storeOf({ ...valid, isUseDue: true });
    await authenticateCaller(deps, 'Bearer good');
    expect(seen.uses).toEqual([7]);
  });

  it('rejects the key of a suspended partner and says why', async () => {
    const { deps, seen } = storeOf({ ...valid, isSuspended: true, isUseDue: true });
    expect(await errorOf(deps, 'Bearer good')).toMatchObject({
      code: 'partner_suspended',
      detail: 'The operator has suspended the partner "acme".',
      holder: { partner, keyId: 7 },
    });
    expect(seen.uses).toEqual([]);
  });

  it('does not tell the holder of an invalid key that the partner is suspended', async () => {
    const { deps } = storeOf({ ...valid, isValid: false, isSuspended: true });
    expect(await errorOf(deps, 'Bearer good')).toMatchObject({ code: 'unauthenticated' });
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic good',
    'good',
    'Bearer good good',
    'Bearer bad',
    `Bearer good${'x'.repeat(200)}`,
  ])('rejects the header %j without a database query', async (header) => {
    const { deps, seen } = storeOf(valid);
    expect(await errorOf(deps, header)).toMatchObject({ code: 'unauthenticated', holder: null });
    expect(seen).toEqual({ lookups: 0, uses: [] });
  });

  it('rejects an unknown key', async () => {
    const { deps, seen } = storeOf(valid);
    expect(await errorOf(deps, 'Bearer good-but-unknown')).toMatchObject({ code: 'unauthenticated', holder: null });
    expect(seen.lookups).toBe(1);
  });

  it('rejects an expired or revoked key with the same message and returns its holder for the audit log', async () => {
    const { deps, seen } = storeOf({ ...valid, isValid: false, isUseDue: true });
    const error = await errorOf(deps, 'Bearer good');
    expect(error).toBeInstanceOf(InvalidApiKey);
    expect(error).toMatchObject({ holder: { keyId: 7, partner } });
    expect(String(error)).toBe(String(await errorOf(deps, 'Bearer bad')));
    expect(seen.uses).toEqual([]);
  });
});
