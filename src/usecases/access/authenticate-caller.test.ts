import { describe, expect, it } from 'vitest';
import { RefusedKey, scopes } from '../../domain/caller.ts';
import type { KeyHolder } from '../../ports/partner-store.ts';
import { authenticateCaller } from './authenticate-caller.ts';

const partner = { id: 5, name: 'acme', prefix: 'acme/' };
const valid: KeyHolder = { partner, keyId: 7, scopes, isValid: true, isUseDue: false };

/** A store that has one key, and counts how often it is asked. */
function storeOf(holder: KeyHolder | null) {
  const seen = { lookups: 0, uses: new Array<number>() };
  const never = (): never => {
    throw new Error('nobody asks for this');
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
      writeSettings: never,
      findByKeyHash: (hash: Uint8Array) => {
        seen.lookups += 1;
        return Promise.resolve(Buffer.from(hash).toString() === 'good' ? holder : null);
      },
    },
    access: { noteUse: (keyId: number) => void seen.uses.push(keyId) },
  };
  return { deps, seen };
}

const refusalOf = (deps: Parameters<typeof authenticateCaller>[0], header: string | undefined): Promise<unknown> =>
  authenticateCaller(deps, header).catch((error: unknown) => error);

describe('a caller', () => {
  it('is who holds the key', async () => {
    const { deps, seen } = storeOf(valid);
    expect(await authenticateCaller(deps, 'Bearer good')).toEqual({ partner, keyId: 7, scopes });
    expect(await authenticateCaller(deps, 'bearer   good')).toEqual({ partner, keyId: 7, scopes });
    expect(seen).toEqual({ lookups: 2, uses: [] });
  });

  it('is noted when the last note is old', async () => {
    const { deps, seen } = storeOf({ ...valid, isUseDue: true });
    await authenticateCaller(deps, 'Bearer good');
    expect(seen.uses).toEqual([7]);
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
  ])('is refused with the header %j, and the store is not asked', async (header) => {
    const { deps, seen } = storeOf(valid);
    expect(await refusalOf(deps, header)).toMatchObject({ code: 'unauthenticated', holder: null });
    expect(seen).toEqual({ lookups: 0, uses: [] });
  });

  it('is refused with a key that nobody has', async () => {
    const { deps, seen } = storeOf(valid);
    expect(await refusalOf(deps, 'Bearer good-but-unknown')).toMatchObject({ code: 'unauthenticated', holder: null });
    expect(seen.lookups).toBe(1);
  });

  it('is refused with a key that has ended, in the same words, and is remembered as its holder', async () => {
    const { deps, seen } = storeOf({ ...valid, isValid: false, isUseDue: true });
    const refused = await refusalOf(deps, 'Bearer good');
    expect(refused).toBeInstanceOf(RefusedKey);
    expect(refused).toMatchObject({ holder: { keyId: 7, partner } });
    expect(String(refused)).toBe(String(await refusalOf(deps, 'Bearer bad')));
    expect(seen.uses).toEqual([]);
  });
});
