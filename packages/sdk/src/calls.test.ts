import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  sendJson,
  sendProblem,
  startScriptedServer,
  type ScriptedServer,
} from '../../../test/support/scripted-server.ts';
import { Inlet, type InletSettings } from './inlet.ts';

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const quick = { firstDelayMs: 1, longestDelayMs: 5 };
const body = { file_path: 'a.csv', key_type: 1 } as const;

async function inletOn(...given: Parameters<typeof startScriptedServer>): Promise<Inlet> {
  server = await startScriptedServer(...given);
  return new Inlet({ url: server.url, apiKey: 'key', retry: quick });
}
const seen = (): ScriptedServer['seen'] => server?.seen ?? [];
const keysSent = (): Set<unknown> => new Set(seen().map(({ headers }) => headers['idempotency-key']));

describe('a call', () => {
  it('sends the body and the API key and returns the value and the response', async () => {
    const inlet = await inletOn((response) => {
      sendJson(response, 202, { import_log_id: 3 }, { location: '/v1/marketplace/import/3' });
    });
    const queued = await inlet.queueImport(body);
    expect(queued).toMatchObject({ ok: true, value: { import_log_id: 3 }, answer: { status: 202, next: null } });
    expect(queued.ok && queued.answer.headers.get('location')).toBe('/v1/marketplace/import/3');
    expect(seen()).toMatchObject([
      {
        method: 'POST',
        path: '/v1/marketplace/import',
        headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      },
    ]);
  });

  it('supports empty request and response bodies', async () => {
    const inlet = await inletOn((response) => response.writeHead(204).end());
    expect(await inlet.clearAudience(7)).toMatchObject({ ok: true, value: undefined, answer: { status: 204 } });
    expect(seen()[0]).toMatchObject({ method: 'PUT', path: '/v2/firstparty/audience/7', body: '' });
    expect(seen()[0]?.headers['content-type']).toBeUndefined();
  });

  it('sends a user token only for audience calls and no API key for the health check', async () => {
    server = await startScriptedServer((response) => sendJson(response, 200, []));
    const inlet = new Inlet({ url: `${server.url}/`, apiKey: 'key', userToken: 'anna' });
    await inlet.listAudiences();
    await inlet.listAudiences({ userToken: 'bert' });
    await inlet.listAttributes();
    await inlet.getLive();
    expect(seen().map(({ headers }) => [headers['x-user-token'], headers.authorization])).toEqual([
      ['anna', 'Bearer key'],
      ['bert', 'Bearer key'],
      [undefined, 'Bearer key'],
      [undefined, undefined],
    ]);
  });

  it('returns a problem from the API unchanged', async () => {
    const errors = [{ pointer: '/key_type', detail: 'must be 0 or 1' }];
    const problem = {
      type: 'urn:inlet:error:invalid_request',
      title: 'T',
      detail: 'D',
      instance: '/i',
      request_id: 'r',
    };
    const inlet = await inletOn((response) => {
      const answer = { ...problem, status: 400, code: 'invalid_request', errors };
      sendJson(response, 400, answer, { 'content-type': 'application/problem+json; charset=utf-8' });
    });
    expect(await inlet.queueImport(body)).toEqual({
      ok: false,
      problem: { from: 'api', ...problem, status: 400, code: 'invalid_request', errors, attempts: 1 },
    });
  });

  it('reports an unknown code as unknown_code', async () => {
    const inlet = await inletOn((response) => sendProblem(response, 418, 'teapot'));
    const result = await inlet.listAttributes();
    expect(result).toMatchObject({ problem: { code: 'unknown_code', type: 'urn:inlet:error:teapot', status: 418 } });
  });

  it.each([
    ['a page from a proxy', 200, 'text/html', '<html>'],
    ['broken JSON', 200, 'application/json', '{"a'],
    ['an error from a proxy', 403, 'text/html', '<html>'],
    ['JSON that is not a problem document', 400, 'application/json', '{"error": "no"}'],
    ['a list instead of a problem document', 404, 'application/json', '[1]'],
  ])('reports %s as an unreadable response', async (_what, status, type, text) => {
    const inlet = await inletOn((response) => response.writeHead(status, { 'content-type': type }).end(text));
    const detail = `The response with HTTP status ${status} is not from this API.`;
    expect(await inlet.listAttributes()).toMatchObject({ problem: { from: 'sdk', code: 'unreadable_answer', detail } });
  });

  it('does not follow redirects', async () => {
    const inlet = await inletOn((response) => response.writeHead(307, { location: '/elsewhere' }).end());
    expect(await inlet.listAttributes()).toMatchObject({ problem: { code: 'unreadable_answer' } });
    expect(seen()).toHaveLength(1);
  });

  it('returns the health report without retrying if a dependency is down', async () => {
    const ready = { status: 'unavailable', dependencies: { postgres: 'unavailable' } };
    const inlet = await inletOn((response) => sendJson(response, 503, ready));
    expect(await inlet.getReady()).toMatchObject({ ok: true, value: ready });
    expect(seen()).toHaveLength(1);
  });

  it.each([
    ['an idempotency key with a space', { idempotencyKey: 'a b' }, /^idempotencyKey/],
    ['an idempotency key that is too long', { idempotencyKey: 'a'.repeat(256) }, /^idempotencyKey/],
    ['a user token with a line end', { userToken: 'to\nken' }, /^userToken must be printable/],
    ['no time', { timeoutMs: 0 }, /^timeoutMs/],
  ])('sends no request with %s', async (_what, options, detail) => {
    const inlet = await inletOn((response) => sendJson(response, 202, {}));
    const result = await inlet.createAudience({ name: 'A', file_path: 'a/' }, options);
    expect(result).toMatchObject({ problem: { code: 'invalid_argument', attempts: 0 } });
    expect(!result.ok && result.problem.detail).toMatch(detail);
    expect(seen()).toEqual([]);
  });
});

describe('retries', () => {
  it.each([
    [429, 'too_many_open_jobs'],
    [503, 'unavailable'],
    [409, 'idempotency_key_in_use'],
  ])('retries after %d %s with the same idempotency key', async (status, code) => {
    const inlet = await inletOn((response, _request, count) => {
      if (count < 3) sendProblem(response, status, code, { 'retry-after': '0' });
      else sendJson(response, 202, { import_log_id: 1 });
    });
    expect(await inlet.queueImport(body)).toMatchObject({ ok: true, value: { import_log_id: 1 } });
    expect(seen()).toHaveLength(3);
    expect(keysSent().size).toBe(1);
    expect([...keysSent()][0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('retries if the connection breaks before or during the response', async () => {
    const inlet = await inletOn((response, _request, count) => {
      if (count === 1) response.destroy();
      else if (count === 2) {
        response.writeHead(202, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('{"import', () => response.destroy());
      } else sendJson(response, 202, { import_log_id: 1 });
    });
    expect(await inlet.queueImport(body, { idempotencyKey: 'mine' })).toMatchObject({ ok: true });
    expect(seen()).toHaveLength(3);
    expect([...keysSent()]).toEqual(['mine']);
  });

  it('retries after a timeout', async () => {
    const inlet = await inletOn((response, _request, count) => {
      if (count > 1) sendJson(response, 200, []);
    });
    expect(await inlet.listAttributes({ timeoutMs: 300 })).toMatchObject({ ok: true });
    expect(seen().length).toBeGreaterThanOrEqual(2);
  });

  it('waits for the time in Retry-After before the retry', async () => {
    const times: number[] = [];
    const inlet = await inletOn((response, _request, count) => {
      times.push(performance.now());
      if (count === 1) sendProblem(response, 429, 'too_many_open_jobs', { 'retry-after': '1' });
      else sendJson(response, 200, []);
    });
    expect(await inlet.listAttributes()).toMatchObject({ ok: true });
    expect(seen().map(({ path }) => path)).toEqual(Array(2).fill('/v1/marketplace/attributes'));
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it('waits for the time in Retry-After if the connection breaks during that response', async () => {
    const times: number[] = [];
    const inlet = await inletOn((response, _request, count) => {
      times.push(performance.now());
      if (count > 1) return sendJson(response, 200, []);
      response.writeHead(429, { 'content-type': 'application/json', 'content-length': '100', 'retry-after': '1' });
      response.write('{"type"', () => setTimeout(() => response.destroy(), 50));
    });
    expect(await inlet.listAttributes()).toMatchObject({ ok: true });
    expect(times).toHaveLength(2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it('retries until no attempts are left and returns the last response', async () => {
    const inlet = await inletOn((response) => sendProblem(response, 503, 'unavailable', { 'retry-after': '0' }));
    expect(await inlet.listAttributes()).toMatchObject({ problem: { code: 'unavailable', attempts: 5 } });
    expect(seen()).toHaveLength(5);
  });

  it('does not retry if Retry-After is one hour', async () => {
    const inlet = await inletOn((response) => sendProblem(response, 503, 'unavailable', { 'retry-after': '3600' }));
    expect(await inlet.listAttributes()).toMatchObject({ problem: { code: 'unavailable', attempts: 1 } });
  });

  it.each([
    [500, 'internal'],
    [400, 'invalid_request'],
    [409, 'some_conflict'],
    [422, 'idempotency_key_reused'],
  ])('does not retry after %d %s', async (status, code) => {
    const inlet = await inletOn((response) => sendProblem(response, status, code));
    expect(await inlet.queueImport(body)).toMatchObject({ ok: false, problem: { status, attempts: 1 } });
    expect(seen()).toHaveLength(1);
  });

  it('does not retry after an abort', async () => {
    const inlet = await inletOn((response) => sendProblem(response, 503, 'unavailable', { 'retry-after': '60' }));
    const given = new AbortController();
    const result = inlet.listAttributes({ signal: given.signal });
    setTimeout(() => given.abort(), 1_000);
    expect(await result).toMatchObject({ problem: { code: 'aborted', attempts: 1 } });
    const late = await inlet.listAttributes({ signal: AbortSignal.timeout(1_000) });
    expect(late).toMatchObject({ problem: { code: 'timed_out' } });
    expect(await inlet.listAttributes({ signal: AbortSignal.abort() })).toMatchObject({ problem: { code: 'aborted' } });
    expect(seen()).toHaveLength(2);
  });

  it('returns a problem if no attempt succeeds', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const address = closed.address();
    await new Promise((resolve) => closed.close(resolve));
    const port = typeof address === 'object' ? address?.port : 0;
    const settings: InletSettings = { url: `http://127.0.0.1:${port}`, apiKey: 'key', retry: quick };
    const result = await new Inlet(settings).listAttributes();
    expect(result).toMatchObject({ problem: { from: 'sdk', code: 'network_failed', attempts: 5 } });
    expect(!result.ok && result.problem.detail).toContain('ECONNREFUSED');
  });
});
