import { afterEach, describe, expect, it } from 'vitest';
import {
  type ScriptedServer,
  sendJson,
  sendProblem,
  startScriptedServer,
} from '../../../test/support/scripted-server.ts';
import { Inlet } from './inlet.ts';

let server: ScriptedServer;
afterEach(() => server.close());

const retry = { attempts: 2, firstDelayMs: 1, longestDelayMs: 5 };
const eventAt = (sequence: number) => ({ id: `evt_${sequence}`, sequence, type: 'webhook.test' });

async function follow(count: number, signal?: AbortSignal): Promise<unknown[]> {
  const inlet = new Inlet({ url: server.url, apiKey: 'key', timeoutMs: 5_000, retry });
  const found: unknown[] = [];
  for await (const event of inlet.events({ after: 7, signal })) {
    found.push(event);
    if (found.length === count) break;
  }
  return found;
}

describe('following the event log', () => {
  it('continues after an outage that outlasts the retries of a call', async () => {
    server = await startScriptedServer((response, _request, count) => {
      if (count === 1) sendJson(response, 200, [eventAt(8)]);
      else if (count < 6) response.destroy();
      else if (count < 10) response.writeHead(502, { 'content-type': 'text/html' }).end('<html>');
      else if (count < 12) sendProblem(response, 429, 'rate_limited', { 'retry-after': '0' });
      else if (count < 14) sendProblem(response, 500, 'internal');
      else sendJson(response, 200, [eventAt(9)]);
    });
    expect(await follow(2)).toMatchObject([{ value: { sequence: 8 } }, { value: { sequence: 9 } }]);
    expect(server.seen.length).toBeGreaterThanOrEqual(14);
    expect(server.seen.at(-1)?.path).toContain('after=8');
  });

  it('ends with a problem that a retry cannot solve', async () => {
    server = await startScriptedServer((response) => sendProblem(response, 401, 'invalid_api_key'));
    expect(await follow(2)).toMatchObject([{ ok: false, problem: { status: 401 } }]);
    expect(server.seen).toHaveLength(1);
  });

  it('ends when the signal is aborted during an outage', async () => {
    const abort = new AbortController();
    server = await startScriptedServer((response, _request, count) => {
      if (count === 5) abort.abort();
      response.destroy();
    });
    expect(await follow(2, abort.signal)).toMatchObject([{ ok: false, problem: { code: 'aborted' } }]);
  });
});
