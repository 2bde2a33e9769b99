import { afterEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../../../test/support/scripted-server.ts';
import { Secret } from '../../domain/secret.ts';
import { connectS3 } from './connect.ts';
import { s3ObjectStore } from './object-store.ts';

describe('opening an object in a storage that stalls', () => {
  let server: ScriptedServer | undefined;
  afterEach(() => server?.close());

  it.each([
    ['before the headers', false],
    ['after the first bytes', true],
  ])('ends when it is aborted: %s', { timeout: 20_000 }, async (_when, hasStarted) => {
    server = await startScriptedServer((response) => {
      if (!hasStarted) return;
      response.writeHead(200, { etag: '"e"', 'content-length': '1000000' });
      response.write('a,b\n');
    });
    const secretAccessKey = new Secret('not-a-real-secret');
    const client = connectS3({ endpoint: server.url, region: 'us-east-1', accessKeyId: 'test', secretAccessKey });
    const object = { key: 'a.csv', etag: '"e"', size: 1_000_000 };
    const opening = s3ObjectStore(client, 'bucket').open(object, AbortSignal.timeout(500));
    await expect(opening).rejects.toThrow(/abort/i);
    client.destroy();
  });
});
