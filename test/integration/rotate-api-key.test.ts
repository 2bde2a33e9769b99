import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authenticatePartner } from '../../src/usecases/authenticate-partner.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { tablesThatHold } from '../support/search-stores.ts';
import { createStores, type TestStores } from '../support/stores.ts';
import { newBarePartner, wireUp, type BarePartner, type Wired } from '../support/wired.ts';

// Runs what SECURITY.md tells an operator to run, to the letter.

const section = readFileSync('SECURITY.md', 'utf8').split('## Rotate an API key')[1]?.split('\n## ')[0] ?? '';
const [create = '', revoke = ''] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, script = '']) => script);

describe('an operator who rotates an API key by hand', () => {
  let stores: TestStores;
  let deps: Wired;
  let partner: BarePartner;
  let other: BarePartner;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    [partner, other] = [await newBarePartner(deps), await newBarePartner(deps)];
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  function run(script: string, variables: Record<string, string>, input = ''): string {
    const { hostname, port, username, password, pathname } = new URL(stores.config.INLET_POSTGRES_URL.reveal());
    const address = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGDATABASE: pathname.slice(1) };
    const env = { PATH: '/usr/bin:/bin', PGPASSWORD: decodeURIComponent(password), ...address, ...variables };
    return execFileSync('/bin/bash', ['--norc', '-euo', 'pipefail', '-c', script], { env, input, encoding: 'utf8' });
  }
  const nameBehind = (key: string): Promise<string> =>
    authenticatePartner(deps, `Bearer ${key}`).then(
      ({ partner: { name } }) => name,
      () => 'nobody',
    );

  it('gives out a second key, revokes the first, and touches nobody else', async () => {
    const key = /^inlet_[\w-]{32}$/m.exec(run(create, { PARTNER: partner.name }))?.[0] ?? '';
    rememberSecrets(key);
    expect(await nameBehind(key)).toBe(partner.name);
    expect(await nameBehind(partner.apiKey)).toBe(partner.name);
    for (const given of [key, partner.apiKey]) expect(await tablesThatHold(stores, given)).toEqual([]);

    expect(run(revoke, {}, `${partner.apiKey}\n`)).toMatch('(1 row)');
    expect(await nameBehind(partner.apiKey)).toBe('nobody');
    expect(await nameBehind(key)).toBe(partner.name);
    expect(await nameBehind(other.apiKey)).toBe(other.name);
  });

  it('is shown that nothing was done for a partner that is not there, or a key that was revoked', () => {
    expect(run(create, { PARTNER: "x' OR true --" })).toMatch('(0 rows)');
    expect(run(revoke, {}, `${partner.apiKey}\n`)).toMatch('(0 rows)');
  });
});
