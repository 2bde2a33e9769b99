import { describe, expect, it } from 'vitest';
import { Secret } from '../../domain/secret.ts';
import { type PartnerRole, type SessionKeys, roleKeys } from './assume-role.ts';

const role: PartnerRole = {
  roleArn: 'arn:aws:iam::123456789012:role/a',
  region: 'eu-west-1',
  partnerId: 1,
  externalId: 'x',
};
const hour = 3_600_000;

function assuming() {
  const state = { time: 0, assumed: 0, fails: false };
  const keysOf = roleKeys(
    async (asked): Promise<SessionKeys> => {
      state.assumed += 1;
      await Promise.resolve();
      if (state.fails) throw new Error('refused');
      return {
        accessKeyId: `KEY-${state.assumed}`,
        secretAccessKey: new Secret('secret'),
        sessionToken: new Secret('token'),
        region: asked.region,
        expiresAt: new Date(state.time + hour),
      };
    },
    () => state.time,
  );
  return { state, keysOf };
}

describe('roleKeys', () => {
  it('caches credentials and renews them shortly before they expire', async () => {
    const { state, keysOf } = assuming();
    expect((await keysOf(role)).accessKeyId).toBe('KEY-1');
    state.time = hour * 0.7;
    expect((await keysOf(role)).accessKeyId).toBe('KEY-1');
    state.time = hour * 0.76;
    expect((await keysOf(role)).accessKeyId).toBe('KEY-2');
  });

  it('shares one request between concurrent calls', async () => {
    const { state, keysOf } = assuming();
    await Promise.all(Array.from({ length: 10 }, () => keysOf(role)));
    expect(state.assumed).toBe(1);
  });

  it.each([
    { name: 'partner', other: { ...role, partnerId: 2 } },
    { name: 'ExternalId', other: { ...role, externalId: 'y' } },
    { name: 'region', other: { ...role, region: 'eu-west-2' } },
    { name: 'role', other: { ...role, roleArn: `${role.roleArn}b` } },
  ])('never returns credentials that were issued for another $name', async ({ other }) => {
    const { state, keysOf } = assuming();
    await keysOf(role);
    await keysOf(other);
    expect(state.assumed).toBe(2);
  });

  it('requests credentials again after a failure', async () => {
    const { state, keysOf } = assuming();
    state.fails = true;
    await expect(Promise.all([keysOf(role), keysOf(role)])).rejects.toThrow('refused');
    state.fails = false;
    expect((await keysOf(role)).accessKeyId).toBe('KEY-2');
  });

  it('caches only the last thousand roles', async () => {
    const { state, keysOf } = assuming();
    for (let partnerId = 0; partnerId <= 1_000; partnerId++) await keysOf({ ...role, partnerId });
    await keysOf({ ...role, partnerId: 1_000 });
    expect(state.assumed).toBe(1_001);
    await keysOf({ ...role, partnerId: 0 });
    expect(state.assumed).toBe(1_002);
  });
});
