import { afterEach, describe, expect, it } from 'vitest';
import {
  sendJson,
  sendProblem,
  startScriptedServer,
  type ScriptedServer,
} from '../../../test/support/scripted-server.ts';
import { each } from './each.ts';
import { Inlet } from './inlet.ts';

let server: ScriptedServer;
afterEach(() => server.close());

const inlet = (): Inlet => new Inlet({ url: server.url, apiKey: 'key' });

describe('each', () => {
  it('yields all entries of all pages', async () => {
    server = await startScriptedServer((response, { path }) => {
      const cursor = Number(new URL(path, 'http://here').searchParams.get('cursor') ?? 0);
      const next = `</v2/firstparty/audience?limit=2&cursor=${cursor + 2}>; rel="next"`;
      sendJson(response, 200, [{ audience_id: cursor }, { audience_id: cursor + 1 }], cursor < 4 ? { link: next } : {});
    });
    const ids = [];
    for await (const audience of each(({ query }) => inlet().listAudiences({ query: { limit: 2, ...query } }))) {
      ids.push(audience.ok ? audience.value.audience_id : audience.problem);
    }
    expect(ids).toEqual([0, 1, 2, 3, 4, 5]);
    expect(server.seen.map(({ path }) => path)).toEqual([
      '/v2/firstparty/audience?limit=2',
      '/v2/firstparty/audience?limit=2&cursor=2',
      '/v2/firstparty/audience?limit=2&cursor=4',
    ]);
  });

  it('yields one page if there is no next page', async () => {
    server = await startScriptedServer((response) => sendJson(response, 200, [{ row: 1 }, { row: 2 }]));
    const rows = [];
    for await (const reject of inlet().rejects({ import_log_id: 7 })) rows.push(reject.ok && reject.value.row);
    expect(rows).toEqual([1, 2]);
    expect(server.seen.map(({ path }) => path)).toEqual(['/v1/marketplace/import/7/errors?limit=1000']);
  });

  it('requests no more pages after the caller stops iterating', async () => {
    server = await startScriptedServer((response) => {
      sendJson(response, 200, [{ row: 1 }], { link: '</?cursor=1>; rel="next"' });
    });
    for await (const reject of inlet().rejects({ audience_id: 7 })) {
      expect(reject).toMatchObject({ ok: true, value: { row: 1 } });
      break;
    }
    expect(server.seen).toHaveLength(1);
  });

  it('ends with a problem if the callback ignores the cursor of the next page', async () => {
    server = await startScriptedServer((response) => {
      sendJson(response, 200, [1], { link: '</?cursor=1>; rel="next"' });
    });
    const results = [];
    for await (const entry of each(() => inlet().listAudiences())) results.push(entry.ok);
    expect(results).toEqual([true, true, false]);
  });

  it('yields the problem and ends if a request for a page fails', async () => {
    server = await startScriptedServer((response, _request, count) => {
      if (count === 1) sendJson(response, 200, [{ row: 1 }], { link: '</?cursor=1>; rel="next"' });
      else sendProblem(response, 404, 'not_found');
    });
    const results = [];
    for await (const reject of inlet().rejects({ import_log_id: 7 })) results.push(reject);
    expect(results).toMatchObject([{ ok: true }, { ok: false, problem: { code: 'not_found' } }]);
  });
});
