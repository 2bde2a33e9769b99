import * as fc from 'fast-check';
import { type DescribedOperation, type OpenApi, isForOperators } from '../support/openapi/document.ts';
import { arbitraryBody } from './arbitrary-body.ts';
import { arbitraryHeaders, type Secrets } from './arbitrary-headers.ts';
import type { FuzzedRequest } from './fuzzed-request.ts';

/** A placeholder for the ID of the record that the sequence created most recently. */
export const madeBefore = '~made~';

const oddId = fc.oneof(
  fc.constantFrom(
    '0',
    '-1',
    '1.5',
    '1e3',
    '01',
    '%31',
    '%00',
    '%2F',
    '..',
    '%2e%2e',
    '%zz',
    '%',
    '%ff',
    '',
    '9'.repeat(16),
  ),
  fc.string({ maxLength: 10 }).map(encodeURIComponent),
  fc.nat({ max: 300 }).map((length) => 'x'.repeat(length)),
);
const queryValue = fc.oneof(
  fc.integer({ min: -1, max: 1100 }).map(String),
  fc.constantFrom(
    '',
    '1.2',
    '3.17',
    'devices',
    'index',
    'event',
    'id_type',
    'country',
    'NaN',
    '1e2',
    '%zz',
    '%00',
    '9'.repeat(20),
  ),
  fc.string({ maxLength: 80 }).map(encodeURIComponent),
);
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY'];

/** Only audiences that the fuzzer itself created are deleted, so that the other operations can still use the rest. */
const firstDeleted = 11;

function idIn({ path, operationId }: DescribedOperation): fc.Arbitrary<string> {
  const ofAudience = operationId.startsWith('deleteAudience') ? firstDeleted : 1;
  const first = path.includes('/segments/') ? 500_001 : path.includes('/attributes/') ? 1_001 : ofAudience;
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(madeBefore) },
    { weight: 4, arbitrary: fc.integer({ min: first, max: first + 4 }).map(String) },
    { weight: 3, arbitrary: oddId },
  );
}

function arbitraryPath(operation: DescribedOperation): fc.Arbitrary<string> {
  const names = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const query = fc.array(
    fc.tuple(fc.constantFrom(...names, 'limit', 'cursor', 'surprise', '__proto__', 'limit[]'), queryValue),
    { maxLength: 3 },
  );
  return fc
    .tuple(
      idIn(operation),
      fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, query),
      fc.nat({ max: 60 }),
      fc.string({ maxLength: 5 }),
    )
    .map(([id, pairs, dice, extra]) => {
      const path = operation.path.replaceAll(/\{\w+\}/g, () => id);
      const odd =
        [
          `${path}/`,
          `/${path}`,
          path.toUpperCase(),
          `${path}/${encodeURIComponent(extra)}`,
          path.slice(0, -1),
          `${path};a=b`,
          `http://x${path}`,
        ][dice] ?? path;
      return pairs.length === 0 ? odd : `${odd}?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`;
    });
}

/** A request to a documented operation with one or several mutations. */
export function arbitraryRequest(
  document: OpenApi,
  operations: readonly DescribedOperation[],
  secrets: Secrets,
): fc.Arbitrary<FuzzedRequest> {
  const headers = arbitraryHeaders(secrets);
  // An API key takes precedence over a cookie.
  const headersOfOperators = headers.map(({ authorization: _key, ...rest }) => ({ cookie: secrets.cookie, ...rest }));
  return fc.oneof(
    ...operations.map((operation) =>
      fc.record({
        method: fc.oneof({ weight: 15, arbitrary: fc.constant(operation.method) }, fc.constantFrom(...methods)),
        path: arbitraryPath(operation),
        headers: isForOperators(operation) ? headersOfOperators : headers,
        body: arbitraryBody(document, operation),
      }),
    ),
  );
}
