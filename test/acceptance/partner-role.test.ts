import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { device } from '../support/device-id.ts';
import { logDirectory } from '../support/log-directory.ts';
import { createOwnBucket, type OwnBucket } from '../support/own-bucket.ts';
import { createOwnRole, startExternalIdCheck, type ExternalIdCheck } from '../support/own-role.ts';
import { createPartner } from '../support/partners.ts';
import { loggedStatementsThatHold, tablesThatHold } from '../support/search-stores.ts';
import { joinMarketplace, startMarketplace, type Marketplace } from '../support/start-marketplace.ts';

const shownSchema = z.object({ external_id: z.uuid() });

describe("importing from a partner's own bucket with a role", () => {
  let market: Marketplace;
  let check: ExternalIdCheck;
  let own: OwnBucket;
  let roleArn: string;

  const externalIdOf = async (name: string): Promise<string> =>
    shownSchema.parse(JSON.parse(await market.partner.operate('partner', 'show', name, '--json'))).external_id;

  beforeAll(async () => {
    check = await startExternalIdCheck();
    const inlet = await createOwnBucket();
    own = await createOwnBucket();
    roleArn = await createOwnRole(own, inlet);
    market = await startMarketplace('partner-role', {
      INLET_PARTNER_S3_ENDPOINT: check.endpoint,
      INLET_ROLE_ACCESS_KEY_ID: inlet.credentials.accessKeyId,
      INLET_ROLE_SECRET_ACCESS_KEY: inlet.credentials.secretAccessKey,
    });
    await market.partner.createAttribute('sport', 'sport');
    await own.upload('in/a.csv', `${device(1)},sport\n`);
    await own.upload('in/b.csv', `${device(2)},sport\n`);
  });
  afterAll(async () => {
    await market.stop();
    check.close();
  });

  const request = (credentials: object): object => ({
    file_path: `s3://${own.bucket}/in/`,
    path_type: 1,
    key_type: 1,
    compressed: false,
    credentials: { region: own.credentials.region, ...credentials },
  });
  const end = async (credentials: object) => market.api.waitForEnd(await market.api.queue(request(credentials)));

  it("an import ends with status 3 unless the role requires the partner's own ExternalId", async () => {
    const open = await end({ roleArn });
    expect(open.errors?.map(({ code }) => code)).toEqual(['role_unprotected']);
    const other = await createPartner(market.stores.environment);
    check.conditions.set(roleArn, await externalIdOf(other.name));
    const foreign = await end({ roleArn });
    expect(foreign).toMatchObject({ status: 3, errors: [{ code: 'role_refused' }] });
  });

  it("loads the files with the partner's ExternalId and assumes the role only once", async () => {
    check.conditions.set(roleArn, await externalIdOf(market.partner.name));
    const before = check.roleRequests();
    for (let job = 0; job < 3; job++) {
      expect(await end({ roleArn })).toMatchObject({ status: 2, total_rows: '2', unique_devices: '2' });
    }
    // The worker assumes the role once with the correct ExternalId and once with a wrong one.
    expect(check.roleRequests()).toBe(before + 2);
  });

  it('keeps the assumed credentials out of every store and log', async () => {
    expect(check.given.length).toBeGreaterThanOrEqual(3);
    const logs = readdirSync(logDirectory)
      .filter((name) => name.startsWith('partner-role-'))
      .map((name) => readFileSync(join(logDirectory, name), 'utf8'));
    expect(logs.length).toBeGreaterThan(1);
    for (const secret of new Set(check.given)) {
      expect(await tablesThatHold(market.stores, secret)).toEqual([]);
      expect(await loggedStatementsThatHold(market.stores, secret)).toEqual([]);
      expect(logs.filter((text) => text.includes(secret))).toEqual([]);
    }
  });

  it.each([
    { name: 'an invalid role', credentials: { roleArn: 'inlet' }, code: 'invalid_role_arn', pointers: ['roleArn'] },
    {
      name: 'a role together with a key',
      credentials: { roleArn: 'arn:aws:iam::123456789012:role/a', accessKeyId: 'KEY' },
      code: 'invalid_request',
      pointers: ['accessKeyId'],
    },
    {
      name: 'neither keys nor a role',
      credentials: {},
      code: 'invalid_request',
      pointers: ['accessKeyId', 'secretAccessKey'],
    },
    {
      name: 'half of the keys',
      credentials: { accessKeyId: 'KEY' },
      code: 'invalid_request',
      pointers: ['secretAccessKey'],
    },
  ])('rejects $name immediately with $code', async ({ credentials, code, pointers }) => {
    const problem = await market.api.expectProblem(request(credentials));
    expect(problem).toMatchObject({ status: 400, code });
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(pointers.map((name) => `/credentials/${name}`));
  });
});

describe('an installation without its own AWS identity', () => {
  it('rejects roles immediately with roles_not_available', async () => {
    const market = await joinMarketplace();
    const problem = await market.api.expectProblem({
      file_path: 's3://own-bucket/in/a.csv',
      path_type: 1,
      key_type: 1,
      credentials: { roleArn: 'arn:aws:iam::123456789012:role/a', region: 'us-east-1' },
    });
    expect(problem).toMatchObject({ status: 400, code: 'roles_not_available' });
    await market.stop();
  });
});
