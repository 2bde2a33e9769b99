import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fuzz } from '../fuzz/fuzz.ts';
import { startFuzzedService, type FuzzedService } from '../fuzz/fuzzed-service.ts';
import { judgeBy } from '../fuzz/judge.ts';
import { parseOpenApi, readOpenApiText } from '../support/openapi/document.ts';

// `npm run fuzz` does the same for longer.

/** A machine that is busy with other things gets as far as it can. */
const wanted = { requests: 20_000, seconds: 75, seed: 7 };
/** In so short a time growing cannot be told from warming up (183 to 281 MB were seen): `npm run fuzz` tells. */
const mostMegabytes = 400;

describe('random requests made from the OpenAPI document', () => {
  let service: FuzzedService;

  beforeAll(async () => {
    service = await startFuzzedService();
  });
  afterAll(() => service.stop());

  it('are all answered as the document says, by one process that stays small', async () => {
    const figures = await fuzz(service, wanted);
    process.stdout.write(`${JSON.stringify(figures)}\n`);
    expect(figures.failures).toEqual([]);
    expect(service.isRunning()).toBe(true);
    expect(figures.requests).toBeGreaterThan(1_000);
    expect(figures.requests >= wanted.requests || figures.seconds >= wanted.seconds).toBe(true);
    expect(figures.megabytes.late).toBeLessThan(mostMegabytes);
    const never = Object.entries(figures.operations).filter(([, { done }]) => done === 0);
    expect(never).toEqual([]);
  });
});

describe('the judge of the answers', () => {
  const { judge } = judgeBy(parseOpenApi(readOpenApiText()));
  const json = new Headers({
    'content-type': 'application/json',
    'x-request-id': 'x',
    'ratelimit-policy': 'x',
    location: '/',
  });
  const problem = new Headers({ 'content-type': 'application/problem+json', 'x-request-id': 'x' });
  const get = { method: 'GET', path: '/v1/marketplace/import', headers: {}, body: null };
  const post = { ...get, method: 'POST', body: Buffer.from('{"file_path": "a", "key_type": 1}') };
  const notFound = {
    type: 'x',
    title: 'x',
    status: 404,
    detail: 'x',
    instance: 'x',
    code: 'not_found',
    request_id: 'x',
  };

  it.each([
    { what: 'what is documented', request: get, status: 200, headers: json, text: '[]', isFine: true },
    { what: 'a 500', request: get, status: 500, headers: problem, text: '{}', isFine: false },
    { what: 'a field of the wrong type', request: get, status: 200, headers: json, text: '[{}]', isFine: false },
    { what: 'another content type', request: get, status: 200, headers: problem, text: '[]', isFine: false },
    {
      what: 'a status that is not documented',
      request: get,
      status: 404,
      headers: problem,
      text: JSON.stringify(notFound),
      isFine: false,
    },
    {
      what: 'a body that may be taken',
      request: post,
      status: 202,
      headers: json,
      text: '{"import_log_id": 1}',
      isFine: true,
    },
    {
      what: 'a body that may not',
      request: { ...post, body: Buffer.from('{"file_path": "a"}') },
      status: 202,
      headers: json,
      text: '{"import_log_id": 1}',
      isFine: false,
    },
    {
      what: 'no such path',
      request: { ...get, path: '/x' },
      status: 404,
      headers: problem,
      text: JSON.stringify(notFound),
      isFine: true,
    },
    {
      what: 'a page for no such path',
      request: { ...get, path: '/x' },
      status: 404,
      headers: problem,
      text: '<html>',
      isFine: false,
    },
    {
      what: 'a success of no operation',
      request: { ...get, path: '/x' },
      status: 200,
      headers: json,
      text: '{}',
      isFine: false,
    },
  ])('sees $what', ({ request, status, headers, text, isFine }) => {
    expect(judge(request, { status, headers, text }).length === 0).toBe(isFine);
  });
});
