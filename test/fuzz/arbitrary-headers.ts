import * as fc from 'fast-check';

export type Secrets = {
  readonly apiKey: string;
  readonly userToken: string;
  /** The cookie of an operator. */
  readonly cookie: string;
};

const contentTypes = [
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'application/json; charset=utf-16',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/problem+json',
  'application/json, text/plain',
  'json',
  ';',
  '',
];
const accepts = [
  'text/event-stream',
  'application/json',
  'text/csv',
  'text/csv;q=0',
  '*/*',
  'image/png',
  'nonsense',
  '',
];
const headerText = fc.string({
  maxLength: 30,
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code !== 0x7f)
    .map((code) => String.fromCodePoint(code)),
});

/** The tokens that header parsers search for. Many repetitions slow down a parser that backtracks. */
const marks = [' ', '\t', ',', ';', '=', '.', '*', '/', '"', '\\', '\\"', '""', '"x",', ', ', ' ;', '\xff'];
const pieces = [...marks, 'a', '1', 'wait', 'wait=', 'wait=1', 'q=', 'q=0.1', 'text/csv', 'W/'];
/** Leaves room for the API key and other headers, because the total size of all headers is limited to 16 KiB. */
const longest = 12_000;
function repeated(times: number): fc.Arbitrary<string> {
  const few = fc.integer({ min: 1, max: 3 });
  return fc
    .array(fc.tuple(fc.constantFrom(...pieces), fc.oneof(few, fc.nat({ max: times }))), { minLength: 1, maxLength: 6 })
    .map((parts) =>
      parts
        .map(([piece, count]) => piece.repeat(count))
        .join('')
        .slice(0, longest),
    );
}
const odd = fc.oneof(headerText, repeated(10));

/**
 * The wait is at most one second, because open jobs never end here. Only the piece `1` can form a number after `wait=`.
 */
const isShortWait = (prefer: string): boolean => !/wait[ \t]*=[ \t]*"?1\d/i.test(prefer);

/** Also returns true for some values that the service cannot parse. */
export const mayWait = ({ prefer = '' }: Readonly<Record<string, string>>): boolean => /wait/i.test(prefer);

/** A long value of a header that the service parses. */
const longHeader = fc
  .tuple(
    fc.constantFrom('x-user-token', 'accept', 'idempotency-key', 'if-none-match', 'prefer', 'last-event-id'),
    repeated(longest),
  )
  .filter(([name, value]) => name !== 'prefer' || isShortWait(value))
  .map(([name, value]) => ({ [name]: value }));

export function arbitraryHeaders(secrets: Secrets): fc.Arbitrary<Record<string, string>> {
  const key = `Bearer ${secrets.apiKey}`;
  const usual = fc.record(
    {
      authorization: fc.oneof(
        { weight: 20, arbitrary: fc.constant(key) },
        fc.constantFrom(
          `bearer ${secrets.apiKey}`,
          `${key}x`,
          key.slice(0, -1),
          'Bearer',
          'Basic abc',
          `${key}, ${key}`,
        ),
        headerText,
      ),
      'content-type': fc.oneof(
        { weight: 8, arbitrary: fc.constant('application/json') },
        fc.constantFrom(...contentTypes),
        headerText,
      ),
    },
    { noNullPrototype: true },
  );
  const others = fc.record(
    {
      'x-user-token': fc.oneof({ weight: 3, arbitrary: fc.constant(secrets.userToken) }, odd),
      accept: fc.oneof(fc.constantFrom(...accepts), odd),
      'content-encoding': fc.constantFrom('gzip', 'br', 'identity', 'nonsense'),
      'x-request-id': headerText,
      // Chooses from few values, so that some values repeat.
      'idempotency-key': fc.oneof(fc.constantFrom('a', 'b', 'c'), odd),
      'x-http-method-override': fc.constantFrom('DELETE', 'GET'),
      expect: fc.constantFrom('100-continue', 'miracles'),
      range: fc.constant('bytes=0-1'),
      'if-none-match': fc.oneof(fc.constantFrom('*', '"x"', 'W/"x", "y"', ',,', '"', '*, "x"'), odd),
      prefer: fc.oneof(
        fc.constantFrom('wait=1', 'wait="1", wait=60', 'wait=0', 'wait=x', 'respond-async; wait=60'),
        odd.filter(isShortWait),
      ),
      'last-event-id': odd,
      origin: fc.constant('https://elsewhere.example'),
      cookie: headerText,
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  return fc
    .tuple(
      usual,
      fc.oneof({ weight: 6, arbitrary: fc.constant({}) }, { weight: 2, arbitrary: others }, longHeader),
      fc.nat({ max: 40 }),
    )
    .map(([always, more, dice]) => (dice === 0 ? more : { ...always, ...more }));
}
