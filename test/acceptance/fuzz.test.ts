import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violationsOf, isFlat } from '../fuzz/find-violations.ts';
import { fuzz } from '../fuzz/fuzz.ts';
import { startFuzzedService, type FuzzedService } from '../fuzz/fuzzed-service.ts';
import { responseChecker } from '../fuzz/check-response.ts';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { parseOpenApi, readOpenApiText } from '../support/openapi/document.ts';

// `npm run fuzz` does the same for longer.

const wanted = { requests: runsOf({ short: 1_500, long: 20_000 }), seconds: 1_500, seed: campaignSeed };
const msToEnd = 60_000;

describe('random requests made from the OpenAPI document', () => {
  let service: FuzzedService;

  beforeAll(async () => {
    service = await startFuzzedService();
  });
  afterAll(() => service.stop());

  it(
    'are all answered as the document says, by one process whose memory stays flat',
    { timeout: wanted.seconds * 1000 + msToEnd },
    async () => {
      const figures = await fuzz(service, wanted);
      process.stdout.write(`${JSON.stringify(figures)}\n`);
      expect(violationsOf(figures, wanted, service.isRunning())).toEqual([]);
      const never = Object.entries(figures.operations).filter(([, { done }]) => done === 0);
      expect(never).toEqual([]);
    },
  );
});

describe('a run', () => {
  const numbers = { seed: 1, requests: 10, seconds: 1, slowestSeconds: 0, megabytes: [170, 200], failures: [] };
  const good = { ...numbers, statuses: {}, operations: {} };
  const asked = { requests: 10, seconds: 1, seed: 1 };

  it.each([
    { what: 'is fine', figures: good, isRunning: true, complaints: [] },
    {
      what: 'was ended by its time',
      figures: { ...good, requests: 9 },
      isRunning: true,
      complaints: ['9 of 10 requests in 1 s'],
    },
    {
      what: 'leaks',
      figures: { ...good, megabytes: [170, 220, 270] },
      isRunning: true,
      complaints: ['memory is not flat: 170, 220, 270 MB'],
    },
    { what: 'found something', figures: { ...good, failures: ['x'] }, isRunning: true, complaints: ['x'] },
    { what: 'ended the api', figures: good, isRunning: false, complaints: ['the api does not run any more'] },
  ])('that $what is known', ({ figures, isRunning, complaints }) => {
    expect(violationsOf(figures, asked, isRunning)).toEqual(complaints);
  });

  it.each([
    [[170, 230, 180, 190], true],
    [[170, 160], true],
    [[170, 269], true],
    [[170, 270], false],
    // Not enough to tell.
    [[170], false],
    [[], false],
  ])('with %j MB is flat: %s', (megabytes, expected) => {
    expect(isFlat(megabytes)).toBe(expected);
  });
});

describe('the judge of the answers', () => {
  const { judge } = responseChecker(parseOpenApi(readOpenApiText()));
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
