import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../../domain/failure.ts';

/** The position of the last entry on a page, as numbers, and the name of the list. Opaque to clients. */
export type Cursor = { readonly list: string; readonly position: readonly number[] };

/** Returns the position at which a page starts. The position is empty for the first page. */
export function readCursor(cursor: string | undefined, list: string, length: number): number[] {
  if (cursor === undefined) return [];
  const [name, ...numbers] = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  const position = numbers.map(Number);
  // Base64 decoding is lenient. Encoding the result again detects cursors that this service did not issue.
  if (
    name !== list ||
    position.length !== length ||
    encode({ list, position }) !== cursor ||
    !position.every(isPosition)
  ) {
    throw new Failure('invalid_request', 'The cursor is invalid.', {
      fields: [
        { pointer: '/cursor', parameter: 'cursor', detail: 'cursor is not from a Link header of this operation.' },
      ],
    });
  }
  return position;
}

/**
 * Adds a `Link` header that points to the next page (RFC 8288). The URL is built from the route and the validated
 * parameters. It has no host, because clients control the `Host` header.
 */
export function linkNext(request: FastifyRequest, reply: FastifyReply, limit: number, cursor: Cursor): void {
  const query = new URLSearchParams(/\?(.*)$/s.exec(request.url)?.[1]);
  query.delete('limit');
  query.delete('cursor');
  query.append('limit', String(limit));
  query.append('cursor', encode(cursor));
  reply.header('link', `<${pathOfRoute(request)}?${query.toString()}>; rel="next"`);
}

/** Returns a `Link` header that points to a page of another list. */
export function linkTo(path: string, limit: number, cursor: Cursor): string {
  return `<${path}?limit=${limit}&cursor=${encode(cursor)}>; rel="next"`;
}

/**
 * Returns the entries of a page, and links to the next page if there is one. In that case, `items` contains one more
 * entry than the page.
 */
export function pageOf<Item>(
  request: FastifyRequest,
  reply: FastifyReply,
  { list, limit, items }: { readonly list: string; readonly limit: number; readonly items: readonly Item[] },
  positionOf: (item: Item) => readonly number[],
): readonly Item[] {
  const page = items.slice(0, limit);
  const last = page.at(-1);
  if (last !== undefined && items.length > limit) linkNext(request, reply, limit, { list, position: positionOf(last) });
  return page;
}

function encode({ list, position }: Cursor): string {
  return Buffer.from([list, ...position].join('.'), 'latin1').toString('base64url');
}

function isPosition(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0;
}

function pathOfRoute({ routeOptions, params }: FastifyRequest): string {
  const values = new Map(Object.entries(params ?? {}));
  return (routeOptions.url ?? '').replaceAll(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(String(values.get(name))),
  );
}
