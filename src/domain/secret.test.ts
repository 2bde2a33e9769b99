import * as fc from 'fast-check';
import { format, inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret } from './secret.ts';

const hidden = 'hunter2-hunter2';
const options = { depth: Infinity, showHidden: true, showProxy: true, getters: true } as const;

/** The usual ways in which a value reaches a log, a page, or a message. */
const waysOfPrinting: readonly { readonly way: string; readonly print: (secret: Secret) => unknown }[] = [
  { way: 'String()', print: String },
  { way: 'toString()', print: (secret) => secret.toString() },
  { way: 'a template', print: (secret) => `key=${String(secret)}` },
  { way: 'joining a list', print: (secret) => [secret].join(',') },
  { way: 'toLocaleString', print: (secret) => [secret].toLocaleString() },
  { way: 'its default primitive', print: (secret) => Reflect.apply(secret[Symbol.toPrimitive], secret, []) },
  { way: 'JSON', print: (secret) => JSON.stringify(secret) },
  { way: 'JSON in depth', print: (secret) => JSON.stringify({ list: [{ secret }] }) },
  { way: 'inspect', print: (secret) => inspect(secret) },
  { way: 'inspect in depth', print: (secret) => inspect({ deep: [{ er: new Map([[secret, secret]]) }] }, options) },
  { way: 'inspect without custom', print: (secret) => inspect(secret, { ...options, customInspect: false }) },
  { way: '%s', print: (secret) => format('%s', secret) },
  { way: '%o', print: (secret) => format('%o', secret) },
  { way: '%O', print: (secret) => format('%O', { secret }) },
  { way: '%j', print: (secret) => format('%j', secret) },
  { way: 'an extra argument of a log line', print: (secret) => format('connecting', secret, { secret }) },
  { way: 'structured clone', print: (secret) => inspect(structuredClone(secret), options) },
  { way: 'a spread copy', print: (secret) => inspect(Object.assign({}, secret), options) },
  { way: 'Object.keys', print: (secret) => Object.keys(secret) },
  { way: 'Object.entries', print: (secret) => Object.entries(secret) },
  { way: 'own property names', print: (secret) => Reflect.ownKeys(secret) },
  { way: 'an error message', print: (secret) => new Error(`no access with ${String(secret)}`).stack },
  { way: 'the cause of an error', print: (secret) => inspect(new Error('no access', { cause: secret }), options) },
];

describe('a secret', () => {
  it('returns its value from reveal()', () => {
    expect(new Secret(hidden).reveal()).toBe(hidden);
  });

  it.each(waysOfPrinting)('does not reveal its value through $way', ({ print }) => {
    expect(inspect(print(new Secret(hidden)), options)).not.toContain(hidden);
  });

  it.each([String, (secret: Secret) => JSON.parse(JSON.stringify(secret)) as unknown, inspect])(
    'prints a placeholder (case %#)',
    (print) => {
      expect(print(new Secret(hidden))).toBe('[secret]');
    },
  );

  it('prints the same placeholder for every value', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const secret = new Secret(value);
        expect(format('%s %o %j', secret, secret, secret)).toBe('[secret] [secret] "[secret]"');
      }),
    );
  });
});
