import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeMethods, type MethodDescription } from '../../../scripts/sdk/described-operations.ts';
import { sendJson, startScriptedServer, type ScriptedServer } from '../../../test/support/scripted-server.ts';
import { Inlet } from './inlet.ts';

// Checks that every operation in the OpenAPI document has a method that sends the documented request.

const openApi = readFileSync(new URL('../../contract/openapi.json', import.meta.url), 'utf8');
const operations = describeMethods(openApi);

describe('the operations of the OpenAPI document', () => {
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer((response, { path }) => {
      if (path.split('?')[0]?.endsWith('/events')) response.writeHead(404).end();
      else sendJson(response, 200, []);
    });
  });
  afterAll(() => server.close());

  it('has a method for every operation in the OpenAPI document', () => {
    expect(operations.length).toBeGreaterThan(20);
    expect(operations.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['queueImport', 'getReady', 'appendFilesV1']),
    );
  });

  it.each(operations)('sends $method $path for the operation $name', async (operation) => {
    const inlet = new Inlet({ url: server.url, apiKey: 'key', userToken: 'token' });
    const method: unknown = Reflect.get(inlet, operation.name);
    if (typeof method !== 'function') throw new Error(`there is no method ${operation.name}`);
    await finish(Reflect.apply(method, inlet, argumentsOf(operation)));
    const [path, query = ''] = server.seen.at(-1)?.path.split('?') ?? [];
    expect(server.seen.at(-1)?.method).toBe(operation.method);
    expect(path).toBe(
      operation.pathParameters.reduce((text, { name }) => text.replace(`{${name}}`, '41'), operation.path),
    );
    expect([...new URLSearchParams(query).keys()]).toEqual(operation.queryParameters.map(({ name }) => name));
    expect(server.seen.at(-1)?.body).toBe(operation.bodyType === null ? '' : '{"a":1}');
  });
});

function argumentsOf({ pathParameters, queryParameters, bodyType }: MethodDescription): unknown[] {
  return [
    ...pathParameters.map(() => 41),
    ...(bodyType === null ? [] : [{ a: 1 }]),
    { query: Object.fromEntries(queryParameters.map(({ name }) => [name, 'x'])) },
  ];
}

/** Awaits the promise, or the first entry of a stream. */
async function finish(result: unknown): Promise<void> {
  if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result && 'next' in result) {
    if (typeof result.next === 'function') await Reflect.apply(result.next, result, []);
  } else await result;
}
