import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { scopes } from '../../src/domain/caller.ts';
import { authenticateCaller } from '../../src/usecases/access/authenticate-caller.ts';
import { toTestKey } from '../support/partners.ts';
import { runOperator } from '../support/run-operator.ts';
import { tablesThatHold } from '../support/search-stores.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

// Runs the commands in SECURITY.md exactly as written.

const section = readFileSync('SECURITY.md', 'utf8').split('## Rotate an API key')[1]?.split('\n## ')[0] ?? '';
const scripts = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, script = '']) => script);
const [list = '', rotate = '', identify = '', revoke = ''] = scripts;

const listSchema = z.array(
  z.strictObject({
    key_id: z.int(),
    name: z.string(),
    state: z.enum(['active', 'expired', 'revoked']),
    scopes: z.array(z.enum(scopes)),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().nullable(),
    expires_at: z.iso.datetime().nullable(),
    revoked_at: z.iso.datetime().nullable(),
  }),
);
const auditSchema = z.array(
  z.looseObject({ event: z.string(), actor: z.string(), partner_id: z.int(), key_id: z.int().nullable() }),
);

describe('rotating an API key', () => {
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

  function run(script: string, variables: Record<string, string> = {}, input = ''): string {
    const whole = `inlet() { ${process.execPath} bin/inlet "$@"; }\n${script}`;
    const env = { PATH: '/usr/bin:/bin', PARTNER: partner.name, ...stores.environment, ...variables };
    return execFileSync('/bin/bash', ['--norc', '-euo', 'pipefail', '-c', whole], {
      env,
      input,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
  }
  const partnerOfKey = (key: string): Promise<string> =>
    authenticateCaller(deps, `Bearer ${key}`).then(
      (caller) => caller.partner.name,
      () => 'none',
    );
  const withJson = (script: string): string => `${script.trimEnd()} --json`;
  const keysOf = (): z.infer<typeof listSchema> => listSchema.parse(JSON.parse(run(withJson(list))));

  it('SECURITY.md contains four scripts', () => {
    expect(scripts).toHaveLength(4);
  });

  it('an operator issues a second key, and both keys work until the overlap ends', async () => {
    const [first] = keysOf();
    const { apiKey, id } = toTestKey(run(withJson(rotate), { KEY_ID: String(first?.key_id) }));
    expect([await partnerOfKey(apiKey), await partnerOfKey(partner.apiKey)]).toEqual([partner.name, partner.name]);
    for (const given of [apiKey, partner.apiKey]) expect(await tablesThatHold(stores, given)).toEqual([]);
    const [before, after] = keysOf();
    expect([before?.key_id, after?.key_id, after?.expires_at]).toEqual([first?.key_id, id, null]);
    const hoursLeft = (Date.parse(before?.expires_at ?? '') - Date.now()) / 3_600_000;
    expect(Math.round(hoursLeft)).toBe(24);
    await withDatabase(stores, (client) =>
      client.query(`UPDATE api_key SET expires_at = now() - interval '1 ms' WHERE id = $1`, [first?.key_id]),
    );
    expect([await partnerOfKey(apiKey), await partnerOfKey(partner.apiKey)]).toEqual([partner.name, 'none']);
  });

  it('an operator identifies and revokes a leaked key without affecting other partners', async () => {
    const { apiKey, id } = toTestKey(
      run(
        'inlet key create --partner "$PARTNER" --name "x $(echo y)" --scope audience:read --scope audience:write --json',
      ),
    );
    expect(keysOf().at(-1)).toMatchObject({ name: 'x y', scopes: ['audience:read', 'audience:write'] });
    const found = { kind: 'key', environment: 'test', partner: partner.name, key_id: id };
    expect(JSON.parse(run(withJson(identify), {}, `${apiKey}\n`))).toEqual({ ...found, valid: true });
    expect(run(revoke, { KEY_ID: String(id) })).toBe(`key ${id} is revoked\n`);
    expect([await partnerOfKey(apiKey), await partnerOfKey(other.apiKey)]).toEqual(['none', other.name]);
    expect(JSON.parse(run(withJson(identify), {}, `${apiKey}\n`))).toEqual({ ...found, valid: false });
    const nothing = { kind: null, environment: null, partner: null, key_id: null, valid: false };
    expect(JSON.parse(run(withJson(identify), {}, `${apiKey.slice(0, -1)}-\n`))).toEqual(nothing);
  });

  it('an operator gets an error for a key that does not exist or belongs to another partner, and for invalid options', async () => {
    const mine = keysOf()[0]?.key_id;
    const ofOther = ['--partner', other.name];
    const refusals: [number, string, string[]][] = [
      [1, 'not_found', ['create', '--partner', "x' OR true --"]],
      [1, 'not_found', ['revoke', String(mine), ...ofOther]],
      [1, 'not_found', ['rotate', String(mine), ...ofOther]],
      [2, 'wrong_use', ['rotate', 'all', ...ofOther]],
      [2, 'invalid_request', ['create', ...ofOther, '--expires-in', '1 month']],
      [2, 'invalid_request', ['create', ...ofOther, '--name', 'a\nb']],
    ];
    for (const [exit, code, parameters] of refusals) {
      const { code: status, out, err } = await runOperator(stores.environment, ['key', ...parameters]);
      expect([status, out, /^error: (\w+): /.exec(err)?.[1]], parameters.join(' ')).toEqual([exit, '', code]);
    }
    const wrongScope = await runOperator(stores.environment, [
      'key',
      'create',
      ...ofOther,
      '--scope',
      'audience:delete',
    ]);
    expect([wrongScope.code, wrongScope.out]).toEqual([2, '']);
  });

  it('the audit log contains the operator and each change to each key', () => {
    const entries = auditSchema.parse(JSON.parse(run('inlet audit-log --partner "$PARTNER" --limit 3 --json')));
    const last = keysOf().at(-1)?.key_id;
    expect(entries.map(({ event, key_id }) => `${event} ${key_id}`).slice(0, 2)).toEqual([
      `api_key.update ${last}`,
      `api_key.insert ${last}`,
    ]);
    for (const { actor } of entries.slice(0, 2)) expect(actor).toMatch(/^[\w.-]+@[\w.-]+$/);
    expect(JSON.stringify(entries)).not.toContain('inlet_test_key_');
  });
});
