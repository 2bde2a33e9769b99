import { Inlet } from '@inlet/sdk';
import { describe, expect, it } from 'vitest';
import { sendJson, startScriptedServer } from '../../../test/support/scripted-server.ts';
import { allAttributes, clientOf } from './connect.ts';

describe('a login that cannot be used', () => {
  it('because its address is not https is told with the flag that takes it', async () => {
    const profile = { url: 'http://inlet.example', apiKey: 'very-secret' };
    const remedy = 'Give an https address; `inlet login --allow-http` takes this one as it is, and keeps it so.';
    await expect(clientOf(profile)).rejects.toMatchObject({ told: { exitCode: 2, remedy } });
    await expect(clientOf({ ...profile, allowHttp: true })).resolves.toBeDefined();
  });

  it('because the address of its storage is not https is told the same', async () => {
    const keys = { region: 'r', bucket: 'b', prefix: 'p/', accessKeyId: 'id', secretAccessKey: 'very-secret' };
    const storage = { endpoint: 'http://storage.example', ...keys };
    const profile = { url: 'https://inlet.example', apiKey: 'very-secret', storage };
    const remedy = 'Give an https address; `inlet login --allow-http` takes this one as it is, and keeps it so.';
    const login = clientOf(profile);
    await expect(login).rejects.toMatchObject({ told: { exitCode: 2, remedy } });
    await expect(login).rejects.toThrow('The address of the storage is not https: files could be read on the way.');
    await expect(clientOf({ ...profile, allowHttp: true })).resolves.toBeDefined();
  });

  it('for another reason is told without the value', async () => {
    const login = clientOf({ url: 'https://inlet.example', apiKey: 'very secret' });
    await expect(login).rejects.toThrow('wrong_use: The login cannot be used: apiKey must be');
    await expect(login).rejects.not.toThrow('very secret');
  });
});

it('attributes are read to the last page', async () => {
  const attribute = (id: number): object => ({ attribute_id: id, name: `a${id}`, foreign_keys: [], retired: false });
  const server = await startScriptedServer((response, { path }) => {
    const isFirst = !path.includes('cursor=');
    const link = { link: '</v1/marketplace/attributes?cursor=2>; rel="next"' };
    sendJson(response, 200, [attribute(isFirst ? 1 : 2)], isFirst ? link : {});
  });
  const found = await allAttributes(new Inlet({ url: server.url, apiKey: 'key' }));
  await server.close();
  expect(found.map(({ attribute_id }) => attribute_id)).toEqual([1, 2]);
});
