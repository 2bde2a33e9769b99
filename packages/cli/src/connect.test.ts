import { Inlet } from '@inlet/sdk';
import { describe, expect, it } from 'vitest';
import { sendJson, startScriptedServer } from '../../../test/support/scripted-server.ts';
import { allAttributes, clientOf } from './connect.ts';

describe('an invalid login', () => {
  it('rejects an http URL and suggests --allow-http', async () => {
    const profile = { url: 'http://inlet.example', apiKey: 'very-secret' };
    const remedy = 'Use an https URL. To allow http for this login, run `inlet login --allow-http`.';
    await expect(clientOf(profile)).rejects.toMatchObject({ details: { exitCode: 2, remedy } });
    await expect(clientOf({ ...profile, allowHttp: true })).resolves.toBeDefined();
  });

  it('rejects an http storage endpoint and suggests --allow-http', async () => {
    const keys = { region: 'r', bucket: 'b', prefix: 'p/', accessKeyId: 'id', secretAccessKey: 'very-secret' };
    const storage = { endpoint: 'http://storage.example', ...keys };
    const profile = { url: 'https://inlet.example', apiKey: 'very-secret', storage };
    const remedy = 'Use an https URL. To allow http for this login, run `inlet login --allow-http`.';
    const login = clientOf(profile);
    await expect(login).rejects.toMatchObject({ details: { exitCode: 2, remedy } });
    await expect(login).rejects.toThrow('The storage endpoint is not https, so files would be sent unencrypted.');
    await expect(clientOf({ ...profile, allowHttp: true })).resolves.toBeDefined();
  });

  it('rejects an invalid API key without printing it', async () => {
    const login = clientOf({ url: 'https://inlet.example', apiKey: 'very secret' });
    await expect(login).rejects.toThrow('wrong_use: The login is not valid: apiKey must be');
    await expect(login).rejects.not.toThrow('very secret');
  });
});

it('reads all pages of the attribute list', async () => {
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
