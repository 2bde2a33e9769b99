import { Inlet } from '@inlet/sdk';
import { expect, it } from 'vitest';
import { sendJson, startScriptedServer } from '../../../test/support/scripted-server.ts';
import { allAttributes } from './all-attributes.ts';

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
