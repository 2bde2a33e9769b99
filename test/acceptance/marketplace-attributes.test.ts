import { attributeListSchema } from '../../src/adapters/http/routes/list-attributes.ts';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinMarketplace, type Marketplace } from '../support/start-marketplace.ts';

const device = '6d92078a-8246-4ba4-ae5b-76104861e7dc';

describe('attributes', () => {
  let market: Marketplace;

  beforeAll(async () => {
    market = await joinMarketplace();
  });
  afterAll(() => market.stop());

  const shown = async () => {
    const answer = await market.api.request('/v1/marketplace/attributes');
    expect(answer.status).toBe(200);
    return attributeListSchema.parse(await answer.json());
  };
  const operate = (...parameters: string[]): Promise<string> =>
    market.partner.operate('attribute', ...parameters, '--partner', market.partner.name);

  it('the operator creates, renames, links, and retires attributes, which are visible to their partner', async () => {
    const sport = await market.partner.createAttribute('sprot', 'sport', 'golf');
    const golf = await market.partner.createAttribute('golf');
    await operate('rename', String(sport), '--name', 'sport');
    await operate('tie', String(golf), 'golf', 'putting');
    await operate('retire', String(sport));
    const expected = [
      { attribute_id: sport, name: 'sport', foreign_keys: ['sport'], retired: true },
      { attribute_id: golf, name: 'golf', foreign_keys: ['golf', 'putting'], retired: false },
    ];
    expect(await shown()).toEqual(expected);
    expect(z.array(z.unknown()).parse(JSON.parse(await operate('list', '--json')))).toEqual(expected);
  });

  it('attributes are resolved when the job starts, not when it is submitted', async () => {
    const late = await market.partner.createAttribute('late');
    await operate('tie', String(late), 'late-key');
    await market.partner.upload('late.csv', `${device},late-key\n`);
    const log = await market.api.waitForEnd(await market.api.queue({ file_path: 'late.csv', key_type: 1 }));
    expect(log).toMatchObject({ status: 2, unique_devices: '1' });
  });

  it.each([
    { name: 'a name that is taken', parameters: ['create', '--name', 'golf'], says: 'unique' },
    {
      name: 'a foreign key that is taken',
      parameters: ['create', '--name', 'new', '--foreign-key', 'golf'],
      says: 'unique',
    },
    {
      name: 'a foreign key with a bar',
      parameters: ['create', '--name', 'new', '--foreign-key', 'a|b'],
      says: 'foreign key',
    },
    { name: 'an unknown attribute', parameters: ['retire', '999999'], says: 'no attribute 999999' },
    { name: 'an invalid ID', parameters: ['retire', 'x'], says: 'not a valid attribute ID' },
  ])('rejects $name with a helpful message', async ({ parameters, says }) => {
    await expect(operate(...parameters)).rejects.toThrow(says);
  });
});
