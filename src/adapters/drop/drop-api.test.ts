import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DropServer, startDropServer } from '../../../test/drop/drop-server.ts';
import { type ScriptedServer, sendJson, startScriptedServer } from '../../../test/support/scripted-server.ts';
import { Secret } from '../../domain/secret.ts';
import { httpDropApi } from './drop-api.ts';

const apiKey = new Secret('the-key');
const item = { id: 'A7kP2xQ9Lm4R', hash: '250KY6lOgzYUB3EHrkbDCE2kMEZQE69SF38muhoDudI=' };
const { signal } = new AbortController();

describe('the DROP client', () => {
  let server: DropServer;
  beforeEach(async () => {
    server = await startDropServer(apiKey.reveal());
  });
  afterEach(() => server.close());
  const api = (key = apiKey) => httpDropApi({ url: `${server.url}/`, apiKey: key });
  const answers = (id = item.id): Buffer => Buffer.from(`Id,Status\n${id},3\n`);

  it('reports that there is nothing new', async () => {
    expect(await api().download(signal)).toEqual({ is: 'nothing_new' });
  });

  it('waits while the archive is prepared, and downloads it once', async () => {
    server.add({ lists: { MAID: [item] } });
    server.behavior.preparations = 1;
    expect(await api().download(signal)).toMatchObject({ is: 'delayed', reason: 'archive', retryAfterSeconds: 1 });
    const found = await api().download(signal);
    if (found.is !== 'content') throw new Error(found.is);
    expect(found.name).toBe('20260801_4821_DROP.zip');
    expect(Buffer.concat(await found.body.toArray())).toEqual(server.supportArchive().content);
    expect(await api().download(signal)).toMatchObject({ is: 'delayed', reason: 'previous_batch' });
  });

  it('uploads each name only once, and amends the answered batch', async () => {
    server.add({ lists: { MAID: [item], Email: [{ ...item, id: 'B7kP2xQ9Lm4R' }] } });
    await api().download(signal);
    const file = { name: '20260801_4821_MAID.csv', content: answers() };
    expect(await api().upload(file, signal)).toMatchObject({ is: 'accepted' });
    const again = await api().upload(file, signal);
    expect(again.is).toBe('rejected');
    expect('message' in again && again.message).toContain('already uploaded');
    expect(await api().upload({ ...file, name: 'notes.txt' }, signal)).toMatchObject({ is: 'rejected' });
    expect(await api().amend(file, signal)).toMatchObject({ is: 'no_batch' });
    const other = { name: '20260801_4821_Email_part01.csv', content: answers('B7kP2xQ9Lm4R') };
    expect(await api().upload(other, signal)).toMatchObject({ is: 'accepted' });
    expect(await api().upload({ ...other, name: '20260801_4821_Email.csv' }, signal)).toMatchObject({ is: 'no_batch' });
    expect(await api().amend(file, signal)).toMatchObject({ is: 'accepted' });
  });

  it('reports a delay while DROP is closed or cannot be reached', async () => {
    server.behavior.isClosed = true;
    expect(await api().download(signal)).toMatchObject({ is: 'delayed', reason: 'drop' });
    server.behavior.isClosed = false;
    server.behavior.losesResponse = () => true;
    expect(await api().download(signal)).toMatchObject({ is: 'delayed', reason: 'drop' });
    expect(await api().upload({ name: 'a.csv', content: answers() }, signal)).toMatchObject({ reason: 'drop' });
  });

  it('fails with a final error that does not contain the key if the key is refused', async () => {
    const failure: unknown = await api(new Secret('another-key'))
      .download(signal)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ isFinal: true });
    expect(String(failure)).toContain('INLET_DROP_API_KEY');
    expect(String(failure)).not.toContain('another-key');
  });
});

describe('the DROP client with a faulty server', () => {
  let scripted: ScriptedServer | undefined;
  afterEach(() => scripted?.close());
  const apiOf = async (answer: Parameters<typeof startScriptedServer>[0]) => {
    scripted = await startScriptedServer(answer);
    return httpDropApi({ url: scripted.url, apiKey, timeoutMs: 1_000 });
  };

  it('does not follow a redirect, so that the key is not sent to its target', async () => {
    const api = await apiOf((response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
    expect(await api.download(signal)).toMatchObject({ is: 'delayed', reason: 'drop' });
    expect(scripted?.seen).toHaveLength(1);
  });

  it('waits for the time in Retry-After, but at most a day', async () => {
    const api = await apiOf((response) => sendJson(response, 429, { message: 'slow' }, { 'retry-after': '99999999' }));
    expect(await api.download(signal)).toMatchObject({ reason: 'drop', retryAfterSeconds: 86_400 });
  });

  it('returns the whole content of every other response', async () => {
    const content = JSON.stringify({ message: 'x'.repeat(3 * 1024 * 1024) });
    const api = await apiOf((response, _request, count) => {
      if (count === 1) response.writeHead(200).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end(content);
    });
    for (const expected of ['', content]) {
      const found = await api.download(signal);
      if (found.is !== 'content') throw new Error(found.is);
      expect(Buffer.concat(await found.body.toArray()).toString()).toBe(expected);
    }
  });

  it('ignores a response that is not JSON or too large, and removes control characters', async () => {
    const api = await apiOf((response, _request, count) => {
      if (count === 1) response.writeHead(503).end('<html>');
      else if (count === 2) response.writeHead(500).end('x'.repeat(2 * 1024 * 1024));
      else sendJson(response, 503, { message: 'a\u001b[31mb' });
    });
    expect(await api.download(signal)).toMatchObject({ reason: 'drop', message: 'status 503' });
    expect(await api.download(signal)).toMatchObject({ reason: 'drop', message: 'status 500' });
    expect(await api.download(signal)).toMatchObject({ reason: 'drop', message: 'a [31mb' });
  });

  it('gives up if the server does not respond', async () => {
    const api = await apiOf(() => undefined);
    expect(await api.download(signal)).toMatchObject({ is: 'delayed', reason: 'drop' });
  });
});
