import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, sendProblem, startScriptedServer } from '../../../test/support/scripted-server.ts';
import type { CallOptions, ServerEvent } from './call.ts';
import { connect } from './connect.ts';
import type { Result } from './result.ts';
import { defaultRetry } from './send.ts';
import { Secret } from './settings.ts';

let server: ScriptedServer;
afterEach(() => server.close());

type Numbered = { readonly n: number };

async function follow(options: CallOptions = {}): Promise<Result<ServerEvent<Numbered>>[]> {
  const { follow: followApi } = connect({
    url: server.url,
    credentials: { apiKey: new Secret('key', 'apiKey'), userToken: null },
    timeoutMs: 5_000,
    retry: { ...defaultRetry, attempts: 3, firstDelayMs: 1 },
  });
  const events: Result<ServerEvent<Numbered>>[] = [];
  const call = { method: 'GET', path: '/events', auth: 'key', options } as const;
  for await (const event of followApi<Numbered>(call)) events.push(event);
  return events;
}

const begin = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
const progress = (id: string, n: number): string =>
  `: alive\n\nid: ${id}\nevent: progress\ndata: {"n":\ndata: ${n}}\n\n`;
const done = 'id: z\r\nevent: done\r\ndata: {"n": 9}\r\n\r\n';

describe('followEvents', () => {
  it('yields each event and ends after the last event', async () => {
    server = await startScriptedServer((response) => {
      const text = progress('a', 1) + progress('b', 2) + done;
      begin(response).write(text.slice(0, 30));
      setTimeout(() => response.end(text.slice(30)), 20);
    });
    expect(await follow()).toEqual([
      { ok: true, value: { id: 'a', event: 'progress', data: { n: 1 } } },
      { ok: true, value: { id: 'b', event: 'progress', data: { n: 2 } } },
      { ok: true, value: { id: 'z', event: 'done', data: { n: 9 } } },
    ]);
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer key',
      accept: 'text/event-stream, application/problem+json',
    });
  });

  it('resumes after the last event if the connection breaks', async () => {
    server = await startScriptedServer((response, _request, count) => {
      if (count === 1) begin(response).write(progress('a', 1), () => response.destroy());
      else if (count === 2) sendProblem(response, 503, 'unavailable', { 'retry-after': '0' });
      else begin(response).end(done);
    });
    expect(await follow()).toMatchObject([{ value: { id: 'a' } }, { value: { event: 'done' } }]);
    expect(server.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'a', 'a']);
  });

  it('ends if there are no more events after a reconnect', async () => {
    server = await startScriptedServer((response, _request, count) => {
      if (count === 1) begin(response).end(progress('a', 1));
      else response.writeHead(204).end();
    });
    expect(await follow()).toMatchObject([{ value: { id: 'a' } }]);
  });

  it('ends with a problem that is not retryable', async () => {
    server = await startScriptedServer((response) => sendProblem(response, 404, 'not_found'));
    expect(await follow()).toMatchObject([{ ok: false, problem: { code: 'not_found' } }]);
    expect(server.seen).toHaveLength(1);
  });

  it('ends after too many reconnects, after a timeout, and on abort', async () => {
    server = await startScriptedServer((response) => response.destroy());
    expect(await follow()).toMatchObject([{ problem: { code: 'network_failed', attempts: 3 } }]);
    await server.close();
    server = await startScriptedServer((response) => begin(response).flushHeaders());
    expect(await follow({ timeoutMs: 50 })).toMatchObject([{ problem: { code: 'timed_out' } }]);
    expect(await follow({ signal: AbortSignal.timeout(50) })).toMatchObject([{ problem: { code: 'timed_out' } }]);
  });

  it('ends with a problem for an unreadable event', async () => {
    server = await startScriptedServer((response) => begin(response).end('data: {\n\n'));
    expect(await follow()).toMatchObject([{ problem: { code: 'unreadable_answer' } }]);
  });
});
