import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ScriptedServer,
  type SeenRequest,
  sendJson,
  sendProblem,
  startScriptedServer,
} from '../../../test/support/scripted-server.ts';
import { Inlet } from './inlet.ts';

let server: ScriptedServer;
afterEach(() => server.close());

const job = { import_log_id: 5 };
const inlet = (): Inlet => new Inlet({ url: server.url, apiKey: 'key', retry: { firstDelayMs: 1 } });

/** A job that advances one step with each request. */
function stepping(steps: readonly { status: number; rows: number }[], headers: Readonly<Record<string, string>> = {}) {
  return (response: ServerResponse, _request: SeenRequest, count: number): void => {
    const step = steps[Math.min(count, steps.length) - 1];
    sendJson(response, 200, { import_log_id: 5, status: step?.status, progress: { rows_read: step?.rows } }, headers);
  };
}
const steps = [
  { status: 0, rows: 0 },
  { status: 1, rows: 0 },
  { status: 1, rows: 0 },
  { status: 1, rows: 9 },
  { status: 2, rows: 10 },
];

describe('waitFor without long polling', () => {
  it('polls until completion and reports every change once', async () => {
    server = await startScriptedServer(stepping(steps));
    const reported: unknown[] = [];
    const ended = await inlet().waitFor(job, {
      onProgress: ({ status, progress }) => reported.push([status, progress.rows_read]),
    });
    expect(ended).toMatchObject({ ok: true, value: { status: 2 } });
    expect(reported).toEqual([
      [0, 0],
      [1, 0],
      [1, 9],
      [2, 10],
    ]);
    expect(server.seen).toHaveLength(5);
    expect(new Set(server.seen.map(({ path }) => path))).toEqual(new Set(['/v1/marketplace/import/5']));
  });

  it('returns a failed job as a result', async () => {
    server = await startScriptedServer(stepping([{ status: 3, rows: 0 }]));
    expect(await inlet().waitFor(job)).toMatchObject({ ok: true, value: { status: 3 } });
  });

  it('polls less often while nothing changes', async () => {
    const times: number[] = [];
    server = await startScriptedServer((response) => {
      times.push(performance.now());
      sendJson(response, 200, { status: 0 });
    });
    expect(await inlet().waitFor(job, { timeoutMs: 2500 })).toMatchObject({ problem: { code: 'timed_out' } });
    // The delay before the second request is at least 125 ms. Each later delay is 1.5 times the previous one.
    expect(times.length).toBeGreaterThan(2);
    expect(times.length).toBeLessThan(8);
  });

  it('waits for an audience with the user token', async () => {
    server = await startScriptedServer((response) => sendJson(response, 200, { audience_id: 9, status: 2, file: [] }));
    const ended = await inlet().waitFor({ audience_id: 9 }, { userToken: 'anna' });
    expect(ended).toMatchObject({ ok: true, value: { audience_id: 9 } });
    expect(server.seen[0]).toMatchObject({ path: '/v2/firstparty/audience/9', headers: { 'x-user-token': 'anna' } });
  });
});

describe('waitFor with includeFiles: false', () => {
  it('omits the files of the audience from every request', async () => {
    server = await startScriptedServer((response) => sendJson(response, 200, { audience_id: 9, status: 2, file: [] }));
    expect(await inlet().waitFor({ audience_id: 9 }, { includeFiles: false })).toMatchObject({ ok: true });
    expect(server.seen.map(({ path }) => path)).toEqual(['/v2/firstparty/audience/9?include_files=false']);
  });
});

describe('waitFor with long polling', () => {
  it('sends a single request if there is no onProgress', async () => {
    server = await startScriptedServer((response) => {
      setTimeout(() => sendJson(response, 200, { status: 2 }, { 'preference-applied': 'wait=30' }), 300);
    });
    expect(await inlet().waitFor(job)).toMatchObject({ ok: true });
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]?.headers).toMatchObject({ prefer: 'wait=30' });
    expect(server.seen[0]?.headers['if-none-match']).toBeUndefined();
  });

  it('requests records newer than the last one and handles 304', async () => {
    const applied = { 'preference-applied': 'wait=30' };
    server = await startScriptedServer((response, { headers }, count) => {
      if (count === 1) sendJson(response, 200, { status: 1 }, { etag: '"a"' });
      else if (count === 2) response.writeHead(304, { etag: '"a"', ...applied }).end();
      else if (headers['if-none-match'] === '"a"') sendJson(response, 200, { status: 2 }, { etag: '"b"', ...applied });
      else sendProblem(response, 400, 'invalid_request');
    });
    const reported: number[] = [];
    expect(await inlet().waitFor(job, { onProgress: ({ status }) => reported.push(status) })).toMatchObject({
      ok: true,
    });
    expect(reported).toEqual([1, 2]);
    expect(server.seen.map(({ headers }) => [headers['prefer'], headers['if-none-match']])).toEqual([
      [undefined, undefined],
      ['wait=30', '"a"'],
      ['wait=30', '"a"'],
    ]);
  });

  it('polls at most once per second', async () => {
    const changing = Array.from({ length: 100 }, (_, rows) => ({ status: 1, rows }));
    server = await startScriptedServer(stepping(changing, { 'preference-applied': 'wait=2' }));
    const waited = inlet().waitFor(job, { onProgress: () => {}, timeoutMs: 2500 });
    expect(await waited).toMatchObject({ problem: { code: 'timed_out' } });
    expect(server.seen.length).toBeGreaterThanOrEqual(3);
    expect(server.seen.length).toBeLessThan(10);
  });

  it('never waits longer than the remaining timeout', async () => {
    server = await startScriptedServer(() => {});
    const waited = await inlet().waitFor(job, { timeoutMs: 1500 });
    expect(waited).toMatchObject({ problem: { code: 'timed_out' } });
    expect(!waited.ok && waited.problem.detail).toContain('1500 ms');
    expect(server.seen.map(({ headers }) => headers['prefer'])).toEqual(['wait=1']);
  });
});

describe('waitFor', () => {
  it('ends immediately on abort', async () => {
    server = await startScriptedServer(() => {});
    const given = new AbortController();
    const waited = inlet().waitFor(job, { signal: given.signal });
    setTimeout(() => given.abort(), 50);
    expect(await waited).toMatchObject({ ok: false, problem: { code: 'aborted' } });
  });

  it('retries transient errors and returns other problems', async () => {
    server = await startScriptedServer((response, _request, count) => {
      if (count === 1) sendProblem(response, 503, 'unavailable', { 'retry-after': '0' });
      else if (count === 2) sendJson(response, 200, { status: 0 });
      else sendProblem(response, 401, 'unauthenticated');
    });
    expect(await inlet().waitFor(job)).toMatchObject({ ok: false, problem: { code: 'unauthenticated' } });
    expect(server.seen).toHaveLength(3);
  });
});
