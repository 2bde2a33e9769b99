import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ScriptedServer,
  type SeenRequest,
  startScriptedServer,
} from '../../../../test/support/scripted-server.ts';
import { Inlet, type UploadFile, type UploadOptions } from '../inlet.ts';
import { etagOf, etagOfParts, timeoutFor } from './object-storage.ts';

// These tests use a scripted storage server. test/integration/sdk-upload.test.ts uses real storage.

const mebibyte = 1024 * 1024;
let folder = '';
let server: ScriptedServer | null = null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-upload-'));
});
afterEach(async () => {
  await server?.close();
  server = null;
  await rm(folder, { recursive: true });
});

type Answer = (response: ServerResponse, request: SeenRequest) => void | Promise<void>;

async function upload(answer: Answer, files: readonly UploadFile[], options: UploadOptions = {}) {
  server = await startScriptedServer((response, request) => void answer(response, request));
  const keys = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const storage = { endpoint: server.url, region: 'r', bucket: 'b', prefix: 'p/', ...keys };
  return new Inlet({ url: 'http://127.0.0.1:1', apiKey: 'none', storage }).upload(files, options);
}

/** Replaces the content with content of the same size and changes the modification time. */
async function change(path: string): Promise<void> {
  await writeFile(path, 'other');
  await utimes(path, 1, 1);
}

describe('a small file that changes', () => {
  const write = async (name: string): Promise<string> => {
    await writeFile(join(folder, name), 'bytes');
    return join(folder, name);
  };

  it('does not send a small file that changes before the upload', async () => {
    const files = [await write('1.csv'), await write('2.csv')];
    const answer: Answer = async (response) => {
      await change(join(folder, '2.csv'));
      response.writeHead(200, { etag: '"x"' }).end();
    };
    expect(await upload(answer, files, { parallel: 1 })).toMatchObject({
      problem: { code: 'unreadable_file', detail: '2.csv: the file changed during the upload.' },
    });
    expect(server?.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['PUT /b/p/1.csv']);
  });

  it('fails if a file changes during the comparison', async () => {
    const files = [await write('1.csv')];
    const answer: Answer = async (response) => {
      await change(join(folder, '1.csv'));
      response.writeHead(200, { 'content-length': '5', etag: etagOf(Buffer.from('other')) }).end();
    };
    const resumeFolder = join(folder, 'notes');
    expect(await upload(answer, files, { resumeFolder })).toMatchObject({ problem: { code: 'unreadable_file' } });
  });
});

describe('a retried completion of an upload that no longer exists', () => {
  const first = new Uint8Array(5 * mebibyte);
  const second = new Uint8Array(10);
  const body = new Uint8Array(Buffer.concat([first, second]));

  /** All requests succeed until the completion. After that, an object of the expected size exists. */
  const withObject = (etag: string): Answer => {
    let completions = 0;
    return (response, { method, path }) => {
      if (method === 'HEAD') response.writeHead(200, { 'content-length': String(body.byteLength), etag }).end();
      else if (path.includes('?uploads=')) response.end('<UploadId>u</UploadId>');
      else if (method === 'PUT') {
        response.writeHead(200, { etag: etagOf(path.includes('partNumber=1&') ? first : second) }).end();
      } else if (method === 'POST') {
        completions += 1;
        const [status, code] = completions === 1 ? [503, 'SlowDown'] : [404, 'NoSuchUpload'];
        response.writeHead(status, { 'retry-after': '0' }).end(`<Error><Code>${code}</Code></Error>`);
      } else response.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');
    };
  };
  const send = (etag: string) => upload(withObject(etag), [{ name: 'a.csv', body }], { partSize: 5 * mebibyte });

  it('succeeds if the existing object consists of the uploaded parts', async () => {
    const etag = etagOfParts([etagOf(first), etagOf(second)]);
    expect(await send(etag)).toMatchObject({ ok: true, value: { files: [{ etag }] } });
  });

  it.each([etagOf(body), etagOfParts([etagOf(second), etagOf(first)])])(
    'fails if the existing object has the same size but a different ETag: %s',
    async (etag) => {
      expect(await send(etag)).toMatchObject({ ok: false, problem: { code: 'storage_refused' } });
    },
  );
});

describe('a storage error', () => {
  const files: UploadFile[] = [{ name: 'NoSuchUpload.csv', body: new Uint8Array(1) }];

  it('reports that a storage error is retryable and includes its request ID', async () => {
    const busy = '<Error><Code>SlowDown</Code><RequestId>tx-1</RequestId></Error>';
    const answer: Answer = (response) => void response.writeHead(503, { 'retry-after': '0' }).end(busy);
    expect(await upload(answer, files)).toMatchObject({
      problem: { attempts: 5, storage: { status: 503, code: 'SlowDown', request_id: 'tx-1', may_pass: true } },
    });
  });

  it('does not retry a permanent storage error', async () => {
    const answer: Answer = (response) => void response.writeHead(403, { 'x-amz-request-id': 'tx-2' }).end();
    const storage = { status: 403, code: '', request_id: 'tx-2', may_pass: false };
    expect(await upload(answer, files)).toMatchObject({ problem: { code: 'storage_refused', attempts: 1, storage } });
  });
});

describe('an unwritable resume folder', () => {
  const answer: Answer = (response, { method, path }) => {
    if (path.includes('?uploads=')) response.end('<UploadId>u</UploadId>');
    else if (method === 'DELETE') response.writeHead(204).end();
    else response.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>');
  };

  it('reports an unwritable resume folder and removes the upload', async () => {
    const path = join(folder, 'a.csv');
    await writeFile(path, new Uint8Array(6 * mebibyte));
    const options = { partSize: 5 * mebibyte, resumeFolder: join(path, 'notes') };
    expect(await upload(answer, [path], options)).toMatchObject({ problem: { code: 'unwritable_folder' } });
    expect(server?.seen.map(({ method }) => method)).toEqual(['HEAD', 'POST', 'DELETE', 'GET']);
  });
});

describe('a part', () => {
  it('uses a longer timeout for a larger part', () => {
    expect(timeoutFor(0)).toBe(300_000);
    expect(timeoutFor(8 * mebibyte)).toBe(512_000);
    expect(timeoutFor(1024 * mebibyte)).toBe(65_536_000);
  });

  it('sends the complete part with a content length', async () => {
    const body = Uint8Array.from({ length: 2 * mebibyte + 7 }, (_, n) => n % 127);
    const answer: Answer = (response, { body: got }) =>
      void response.writeHead(200, { etag: etagOf(Buffer.from(got)) }).end();
    expect(await upload(answer, [{ name: 'a.csv', body }])).toMatchObject({
      value: { files: [{ etag: etagOf(body) }] },
    });
    const headers = server?.seen[0]?.headers;
    expect(headers?.['content-length']).toBe(String(body.byteLength));
    expect(headers?.['transfer-encoding']).toBeUndefined();
  });
});
