import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { type OwnBucket, createOwnBucket } from '../support/own-bucket.ts';
import { createOwnRole } from '../support/own-role.ts';
import { loggedStatementsThatHold, tablesThatHold } from '../support/search-stores.ts';
import { type Marketplace, joinMarketplace } from '../support/start-marketplace.ts';
import { type TemporaryKeys, temporaryKeysOf } from '../support/temporary-keys.ts';

describe("importing from a partner's own bucket with temporary credentials", () => {
  let market: Marketplace;
  let own: OwnBucket;
  let keys: TemporaryKeys;

  beforeAll(async () => {
    market = await joinMarketplace();
    await market.partner.createAttribute('sport', 'sport');
    const user = await createOwnBucket();
    own = await createOwnBucket();
    keys = await temporaryKeysOf(user, await createOwnRole(own, user));
    await own.upload('in/a.csv', `${device(1)},sport\n`);
  });
  afterAll(() => market.stop());

  const request = (credentials: object): object => ({
    file_path: `s3://${own.bucket}/in/a.csv`,
    path_type: 1,
    key_type: 1,
    credentials: { region: own.credentials.region, ...credentials },
  });
  const codesOf = async (credentials: object): Promise<(string | undefined)[] | null> => {
    const log = await market.api.waitForEnd(await market.api.queue(request(credentials)));
    return log.errors?.map(({ code }) => code) ?? null;
  };

  it('loads the files with a session token', async () => {
    expect(await codesOf(keys)).toBeNull();
  });

  it('fails without the session token, or with a token that belongs to other keys', async () => {
    const { sessionToken, ...withoutToken } = keys;
    expect(await codesOf(withoutToken)).toEqual(['storage_credentials_rejected']);
    const tampered = `${sessionToken.slice(0, -8)}AAAAAAAA`;
    expect(await codesOf({ ...keys, sessionToken: tampered })).toHaveLength(1);
  });

  it('rejects a token together with a role, and a token that cannot be sent in a header', async () => {
    const withRole = request({ roleArn: 'arn:aws:iam::123456789012:role/inlet', sessionToken: keys.sessionToken });
    expect(await market.api.expectProblem(withRole)).toMatchObject({
      status: 400,
      errors: [{ pointer: '/credentials/sessionToken' }],
    });
    const invalid = request({ ...keys, sessionToken: 'two\r\nlines' });
    expect(await market.api.expectProblem(invalid)).toMatchObject({
      errors: [{ pointer: '/credentials/sessionToken' }],
    });
  });

  it('never stores the session token in plain text', async () => {
    expect(await tablesThatHold(market.stores, keys.sessionToken)).toEqual([]);
    expect(await loggedStatementsThatHold(market.stores, keys.sessionToken)).toEqual([]);
  });
});
