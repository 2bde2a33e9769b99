import { type Problem, problemSchema } from '../../src/adapters/http/records/problem.ts';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureCatalog, isFailureCode } from '../../src/domain/failure-catalog.ts';
import { type Answer, answerChecker, readAnswer } from '../support/openapi/check-answer.ts';
import { operationsOf, parseOpenApi, readOpenApiText } from '../support/openapi/document.ts';
import { exampleRequests } from '../support/openapi/example-requests.ts';
import { operatorHeaders } from '../support/operator-session.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { sendRaw } from '../support/raw-request.ts';
import { startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

// Tests that every invalid request gets a problem with a code, and that the log contains its request ID.

const document = parseOpenApi(readOpenApiText());
const operations = operationsOf(document);
const check = answerChecker(document);
const imports = '/v1/marketplace/import';

let stores: TestStores;
let partner: TestPartner;
let operator: Record<string, string>;
let api: Awaited<ReturnType<typeof startApi>>;

beforeAll(async () => {
  stores = await createStores('one');
  [partner, operator] = await Promise.all([createPartner(stores.environment), operatorHeaders(stores)]);
  api = await startApi(stores.environment, 'problems');
});
afterAll(async () => {
  await stopProcess(api.child);
  await stores.drop();
});

const send = async (url: string, init: RequestInit = {}): Promise<Answer> => {
  const credentials = url.startsWith('/v1/operator/') ? operator : { authorization: `Bearer ${partner.apiKey}` };
  const headers = { ...credentials, ...Object.fromEntries(new Headers(init.headers)) };
  return readAnswer(await fetch(api.url + url, { ...init, headers }));
};

async function expectProblem(answer: Answer, code: string): Promise<Problem> {
  const problem = problemSchema.strict().parse(JSON.parse(answer.text));
  if (!isFailureCode(code)) throw new Error(`unknown code: ${code}`);
  expect(problem).toMatchObject({ code, type: `urn:inlet:error:${code}`, title: failureCatalog[code].title });
  expect(answer.status).toBe(problem.status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.headers.get('x-request-id')).toBe(problem.request_id);
  await waitUntil(
    'the request is in the log',
    () => Promise.resolve(readFileSync(api.logFile, 'utf8').includes(`"${problem.request_id}"`)),
    10,
  );
  return problem;
}

const json = { 'content-type': 'application/json' };

describe('a request for an unknown operation', () => {
  it.each([
    ['GET', '/v1', 'not_found'],
    ['POST', '/', 'method_not_allowed'],
    ['GET', '/v3/marketplace/import', 'not_found'],
    ['POST', `${imports}/1/restart`, 'not_found'],
    ['GET', `${imports}/`, 'unauthenticated'],
    ['POST', `${imports}/`, 'method_not_allowed'],
    ['GET', `${imports}/${'1'.repeat(5_000)}`, 'not_found'],
    ['GET', `${imports}/%zz`, 'invalid_request'],
    ['GET', '/docs/../../etc/passwd', 'not_found'],
    ['GET', '/docs/package.json', 'not_found'],
  ])('rejects a request for an unknown operation (%s %s) with the code %s', async (method, path, code) => {
    // Does not use fetch, which normalizes paths.
    const host = new URL(api.url).host;
    const answer = await sendRaw(api.url, `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    expect(await expectProblem(answer, code)).toMatchObject({ instance: path });
  });

  /** The paths of two operations can match the same address, as `/import/dry-run` and `/import/{import_log_id}` do. */
  const methodsAt = (url: string): string[] =>
    Object.entries(document.paths)
      .filter(([path]) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(url))
      .flatMap(([, item]) => Object.keys(item).map((method) => method.toUpperCase()));

  it.each(Object.keys(document.paths))('rejects methods that the path does not support: %s', async (path) => {
    const url = path.replaceAll(/\{\w+\}/g, '1');
    const has = methodsAt(url);
    // HEAD is not supported for event streams.
    const ofGet = path.endsWith('}/events') ? ['GET'] : ['GET', 'HEAD'];
    const allowed = has.flatMap((method) => (method === 'GET' ? ofGet : [method])).toSorted();
    const others = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS'].filter((method) => !has.includes(method));
    for (const method of others) {
      const answer = await send(url, { method });
      await expectProblem(answer, 'method_not_allowed');
      expect(answer.headers.get('allow')?.split(', ').toSorted()).toEqual(allowed);
    }
  });
});

describe('a malformed HTTP request', () => {
  it.each([
    { what: 'text that is not HTTP', bytes: 'hello\r\n\r\n', code: 'invalid_request' },
    { what: 'an unknown method', bytes: 'FETCH / HTTP/1.1\r\nhost: x\r\n\r\n', code: 'invalid_request' },
    {
      what: 'two lengths',
      bytes: `POST ${imports} HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n`,
      code: 'invalid_request',
    },
    {
      what: 'large headers',
      bytes: `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
      code: 'headers_too_large',
    },
    { what: 'no host', bytes: `GET ${imports} HTTP/1.1\r\n\r\n`, code: 'invalid_request' },
  ])('rejects a malformed request and closes its connection: $what', async ({ bytes, code }) => {
    const answer = await sendRaw(api.url, bytes);
    await expectProblem(answer, code);
    expect(answer.headers.get('connection')).toBe('close');
  });

  it('processes a request with an unknown Expect header', async () => {
    const bytes = 'GET /health/live HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n';
    expect(await sendRaw(api.url, bytes)).toMatchObject({ status: 200 });
  });
});

describe('an invalid body', () => {
  it.each([
    { what: 'truncated JSON', body: '{"file_path": ', headers: json, code: 'invalid_request' },
    { what: 'an empty body', body: '', headers: json, code: 'invalid_request' },
    { what: 'null', body: 'null', headers: json, code: 'invalid_request' },
    { what: 'a list', body: '[]', headers: json, code: 'invalid_request' },
    { what: 'a prototype', body: '{"__proto__": {"key_type": 1}}', headers: json, code: 'invalid_request' },
    { what: 'no media type', body: new Uint8Array([123, 125]), headers: {}, code: 'unsupported_media_type' },
    { what: 'plain text', body: '{}', headers: { 'content-type': 'text/plain' }, code: 'unsupported_media_type' },
    {
      what: 'a form',
      body: 'a=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      code: 'unsupported_media_type',
    },
    { what: 'a malformed media type', body: '{}', headers: { 'content-type': ';;;' }, code: 'unsupported_media_type' },
    {
      what: 'more than a mebibyte',
      body: JSON.stringify('x'.repeat(1024 * 1024)),
      headers: json,
      code: 'payload_too_large',
    },
  ])('rejects an invalid body ($what) with $code', async ({ body, headers, code }) => {
    const answer = await send(imports, { method: 'POST', headers, body });
    expect(await expectProblem(answer, code)).toMatchObject({ instance: imports });
  });

  it('reports every invalid field at once with its pointer', async () => {
    const body = {
      file_path: 7,
      key_type: '0',
      path_type: 2,
      credentials: { accessKeyId: 'with space', region: '' },
      mode: 'append',
    };
    const answer = await send(imports, { method: 'POST', headers: json, body: JSON.stringify(body) });
    const { errors = [] } = await expectProblem(answer, 'invalid_request');
    expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual([
      '/credentials/accessKeyId',
      '/credentials/region',
      '/credentials/secretAccessKey',
      '/file_path',
      '/key_type',
      '/mode',
      '/path_type',
    ]);
    for (const { detail } of errors) expect(detail).toMatch(/\w+/);
  });
});

describe('a documented failure', () => {
  const withKey = operations.filter(({ security }) => security.length > 0);
  const withBody = withKey.filter(({ requestBody }) => requestBody);

  it.each(withKey)('returns a documented problem without a key: $method $path', async (operation) => {
    for (const { method, url, headers, body } of exampleRequests(operation)) {
      for (const authorization of ['', 'Bearer nonsense', 'Basic abc']) {
        const init = { method, headers: { ...headers, authorization }, ...(body === undefined ? {} : { body }) };
        const answer = await send(url, init);
        await expectProblem(answer, 'unauthenticated');
        expect(check(operation, answer)).toEqual([]);
      }
    }
  });

  it.each(withKey.filter(({ security }) => security.some(({ userToken }) => userToken)))(
    'returns a documented problem with an invalid user token: $method $path',
    async (operation) => {
      const [example] = exampleRequests(operation);
      if (!example) throw new Error('no example');
      const answer = await send(example.url, { method: example.method, headers: { 'x-user-token': 'nonsense' } });
      await expectProblem(answer, 'invalid_user_token');
      expect(check(operation, answer)).toEqual([]);
    },
  );

  it.each(withKey.filter(({ path }) => path.includes('{')))(
    'returns a documented problem for an unknown ID: $method $path',
    async (operation) => {
      for (const { method, headers, body, url } of exampleRequests(operation)) {
        for (const id of ['999999', '0', 'x', '9'.repeat(30)]) {
          const answer = await send(url.replace(/\/(1|500001)\b/, `/${id}`), {
            method,
            headers,
            ...(body === undefined ? {} : { body }),
          });
          await expectProblem(answer, 'not_found');
          expect(check(operation, answer)).toEqual([]);
        }
      }
    },
  );

  it.each(withBody)('returns a documented problem for an invalid body: $method $path', async (operation) => {
    const url = exampleRequests(operation)[0]?.url ?? '';
    const cases = [
      { body: '{', headers: json, code: 'invalid_request' },
      { body: '{"surprise": 1}', headers: json, code: 'invalid_request' },
      { body: '<a/>', headers: { 'content-type': 'application/xml' }, code: 'unsupported_media_type' },
      { body: ' '.repeat(1024 * 1024 + 1), headers: json, code: 'payload_too_large' },
    ];
    for (const { body, headers, code } of cases) {
      const answer = await send(url, { method: operation.method, body, headers });
      await expectProblem(answer, code);
      expect(check(operation, answer)).toEqual([]);
    }
  });

  it.each(withKey.filter(({ parameters }) => parameters.some((parameter) => parameter.in === 'query')))(
    'returns a documented problem for an invalid query: $method $path',
    async (operation) => {
      const url = (exampleRequests(operation)[0]?.url ?? '').split('?')[0];
      for (const query of ['limit=0', 'limit=1&limit=2', 'limit=x', 'surprise=1']) {
        const answer = await send(`${url}?${query}`, { method: operation.method });
        await expectProblem(answer, 'invalid_request');
        expect(check(operation, answer)).toEqual([]);
      }
    },
  );
});
