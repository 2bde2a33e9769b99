import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { violationsOf, isFlat } from '../fuzz/find-violations.ts';
import { fuzz } from '../fuzz/fuzz.ts';
import { startFuzzedService, type FuzzedService } from '../fuzz/fuzzed-service.ts';
import { responseChecker } from '../fuzz/check-response.ts';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { parseOpenApi, readOpenApiText } from '../support/openapi/document.ts';

// `npm run fuzz` runs the same test for longer.

const wanted = { requests: runsOf({ short: 3_500, long: 20_000 }), seconds: 1_500, seed: campaignSeed };
const msToEnd = 60_000;

describe('fuzzing the API', () => {
  let service: FuzzedService;

  beforeAll(async () => {
    service = await startFuzzedService();
  });
  afterAll(() => service.stop());

  it(
    'random requests get only documented responses and do not increase the memory of the API process',
    { timeout: wanted.seconds * 1000 + msToEnd },
    async () => {
      const figures = await fuzz(service, wanted);
      process.stdout.write(`${JSON.stringify(figures)}\n`);
      expect(violationsOf(figures, wanted, service.isRunning())).toEqual([]);
      // In the short version, an operation is called only about 35 times, and most of these calls are invalid on purpose.
      if (inject('campaign') === 'short') return;
      // No file in the fuzzed audiences fails, so none can be dismissed. Imports rarely wait long enough to be
      // canceled. A random upload ID is never valid.
      const never = Object.entries(figures.operations).filter(
        ([name, { done }]) =>
          done === 0 &&
          !/^(?:dismissFile|cancelAppend|retryAppend|deleteAudience|cancelImport|retryImport|requestImportRejects|getImportRejects|listImportRejects|requestAudienceRejects|getAudienceRejects|getUpload|completeUpload|abortUpload|getWebhook|updateWebhook|deleteWebhook|rotateWebhookSecret|testWebhook|listWebhookDeliveries|replayEvents)/.test(
            name,
          ),
      );
      expect(never).toEqual([]);
    },
  );
});

describe('the report on a fuzz run', () => {
  const numbers = { seed: 1, requests: 10, seconds: 1, slowestSeconds: 0, megabytes: [170, 200], failures: [] };
  const good = { ...numbers, statuses: {}, operations: {} };
  const asked = { requests: 10, seconds: 1, seed: 1 };

  it.each([
    { what: 'passes', figures: good, isRunning: true, violations: [] },
    {
      what: 'timed out',
      figures: { ...good, requests: 9 },
      isRunning: true,
      violations: ['9 of 10 requests in 1 s'],
    },
    {
      what: 'leaks',
      figures: { ...good, megabytes: [170, 220, 270] },
      isRunning: true,
      violations: ['memory is not flat: 170, 220, 270 MB'],
    },
    { what: 'found a failure', figures: { ...good, failures: ['x'] }, isRunning: true, violations: ['x'] },
    { what: 'stopped the API', figures: good, isRunning: false, violations: ['the API is no longer running'] },
  ])('lists the violations of a run that $what', ({ figures, isRunning, violations }) => {
    expect(violationsOf(figures, asked, isRunning)).toEqual(violations);
  });

  it.each([
    [[170, 230, 180, 190], true],
    [[170, 160], true],
    [[170, 269], true],
    [[170, 270], false],
    // There are too few samples to decide.
    [[170], false],
    [[], false],
  ])('decides whether the samples %j MB are flat: %s', (megabytes, expected) => {
    expect(isFlat(megabytes)).toBe(expected);
  });
});

describe('the response checker', () => {
  const { findViolations } = responseChecker(parseOpenApi(readOpenApiText()));
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
    { what: 'a documented response', request: get, status: 200, headers: json, text: '[]', isFine: true },
    { what: 'a 500', request: get, status: 500, headers: problem, text: '{}', isFine: false },
    { what: 'a field of the wrong type', request: get, status: 200, headers: json, text: '[{}]', isFine: false },
    { what: 'a wrong content type', request: get, status: 200, headers: problem, text: '[]', isFine: false },
    {
      what: 'an undocumented status',
      request: get,
      status: 404,
      headers: problem,
      text: JSON.stringify(notFound),
      isFine: false,
    },
    {
      what: 'an accepted valid body',
      request: post,
      status: 202,
      headers: json,
      text: '{"import_log_id": 1}',
      isFine: true,
    },
    {
      what: 'an accepted invalid body',
      request: { ...post, body: Buffer.from('{"file_path": "a"}') },
      status: 202,
      headers: json,
      text: '{"import_log_id": 1}',
      isFine: false,
    },
    {
      what: 'a problem for an unknown path',
      request: { ...get, path: '/x' },
      status: 404,
      headers: problem,
      text: JSON.stringify(notFound),
      isFine: true,
    },
    {
      what: 'an HTML page for an unknown path',
      request: { ...get, path: '/x' },
      status: 404,
      headers: problem,
      text: '<html>',
      isFine: false,
    },
    {
      what: 'a success for an unknown path',
      request: { ...get, path: '/x' },
      status: 200,
      headers: json,
      text: '{}',
      isFine: false,
    },
  ])('detects whether $what violates the document', ({ request, status, headers, text, isFine }) => {
    expect(findViolations(request, { status, headers, text }).length === 0).toBe(isFine);
  });
});
