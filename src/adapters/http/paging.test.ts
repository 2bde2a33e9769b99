import * as fc from 'fast-check';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../domain/failure.ts';
import { linkNext, readCursor } from './paging.ts';

const encoded = (text: string): string => Buffer.from(text).toString('base64url');

/** Returns the `Link` header of the response to a request for this URL. */
async function linkOf(url: string, position: readonly number[] = [7], headers = {}): Promise<string> {
  const api = Fastify();
  api.get('/lists/:id/items', async (request, reply) => {
    linkNext(request, reply, 50, { list: 'items', position });
    return [];
  });
  return String((await api.inject({ url, headers })).headers['link']);
}

const cursorIn = (link: string): string => /cursor=([^&>]+)>/.exec(link)?.[1] ?? '';

describe('a cursor', () => {
  const most = Number.MAX_SAFE_INTEGER;
  it.each([[[0]], [[1]], [[most]], [[0, 0]], [[7, 12_345]], [[most, most]], [[1, 2, 3]]])(
    'decodes a cursor to the encoded position %j',
    async (position) => {
      const cursor = cursorIn(await linkOf('/lists/1/items', position));
      expect(readCursor(cursor, 'items', position.length)).toEqual(position);
      expect(cursor.length).toBeLessThanOrEqual(128);
    },
  );

  it('returns an empty position for a missing cursor', () => {
    expect(readCursor(undefined, 'items', 1)).toEqual([]);
  });

  it.each([
    ['of another list', encoded('others.7')],
    ['with too few numbers', encoded('items')],
    ['with too many', encoded('items.7.8')],
    ['with no number', encoded('items.')],
    ['with letters', encoded('items.x')],
    ['below zero', encoded('items.-1')],
    ['not whole', encoded('items.1.5')],
    ['in another spelling', encoded('items.07')],
    ['with an exponent', encoded('items.1e3')],
    ['in another base', encoded('items.0x10')],
    ['that is no number', encoded('items.NaN')],
    ['without end', encoded('items.Infinity')],
    ['too large', encoded('items.9007199254740993')],
    ['with a space', encoded('items. 7')],
    ['with padding', `${encoded('items.70')}=`],
    ['in the other alphabet', `${encoded('items.7')}+/`],
    ['that is not encoded', 'items.7'],
    ['that is empty', ''],
  ])('rejects a cursor %s and names the parameter in the error', (_what, cursor) => {
    expect(() => readCursor(cursor, 'items', 1)).toThrow(
      expect.objectContaining({ code: 'invalid_request', fields: [expect.objectContaining({ pointer: '/cursor' })] }),
    );
  });

  it('rejects a cursor that the service did not issue', () => {
    const isRefusedOrOurs = (cursor: string): boolean => {
      try {
        return encoded(`items.${readCursor(cursor, 'items', 1)[0]}`) === cursor;
      } catch (error) {
        return error instanceof Failure && error.code === 'invalid_request';
      }
    };
    const any = fc.string({ maxLength: 40 });
    fc.assert(fc.property(any, (text) => [text, encoded(text), encoded(`items${text}`)].every(isRefusedOrOurs)));
    expect(isRefusedOrOurs(encoded('items.7'))).toBe(true);
  });
});

describe('the link to the next page', () => {
  it('omits the host, regardless of the request URL', async () => {
    const expected = `</lists/1/items?limit=50&cursor=${encoded('items.7')}>; rel="next"`;
    expect(await linkOf('/lists/1/items')).toBe(expected);
    expect(await linkOf('/lists/1/items', [7], { host: 'elsewhere.example', 'x-forwarded-host': 'x.example' })).toBe(
      expected,
    );
    expect(await linkOf('http://elsewhere.example/lists/1/items')).toBe(expected);
    expect(await linkOf('/lists/%31/items')).toBe(expected);
  });

  it('replaces limit and cursor in the link and keeps the other parameters', async () => {
    expect(await linkOf('/lists/1/items?a=1&cursor=x&b=%3E%0d%0a&limit=3&a=2')).toBe(
      `</lists/1/items?a=1&b=%3E%0D%0A&a=2&limit=50&cursor=${encoded('items.7')}>; rel="next"`,
    );
  });

  it('encodes an ID in the path of the link', async () => {
    expect(await linkOf('/lists/a%3Eb%2Fc/items')).toMatch(/^<\/lists\/a%3Eb%2Fc\/items\?/);
  });
});
