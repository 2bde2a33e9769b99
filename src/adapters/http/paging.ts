import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../../domain/failure.ts';

/**
 * The place of the last entry of a page: a few numbers, with the name of the list they are of. Callers take it from the Link
 * header as it is, and are not to read it: that is why it does not look like numbers.
 */
export type Cursor = { readonly list: string; readonly place: readonly number[] };

/** The place at which a page begins; empty at the beginning of the list. */
export function readCursor(cursor: string | undefined, list: string, length: number): number[] {
  if (cursor === undefined) return [];
  const [name, ...numbers] = Buffer.from(cursor, 'base64url').toString('latin1').split('.');
  const place = numbers.map(Number);
  // Written again it must be the same: what decodes to it by chance, or leniently, was not given out by us.
  if (name !== list || place.length !== length || textOf({ list, place }) !== cursor || !place.every(isPlace)) {
    const detail = 'is not a cursor that this operation gave out.';
    throw new Failure('invalid_request', 'The cursor is not valid.', { fields: [{ pointer: '/cursor', detail }] });
  }
  return place;
}

/**
 * RFC 8288: where the next page is. The address has no host, which a caller could have chosen, and is made of the route
 * and what was checked of the path, not of the path as it was sent.
 */
export function linkNext(request: FastifyRequest, reply: FastifyReply, limit: number, cursor: Cursor): void {
  const query = new URLSearchParams(/\?(.*)$/s.exec(request.url)?.[1]);
  query.delete('limit');
  query.delete('cursor');
  query.append('limit', String(limit));
  query.append('cursor', textOf(cursor));
  reply.header('link', `<${pathOfRoute(request)}?${query.toString()}>; rel="next"`);
}

function textOf({ list, place }: Cursor): string {
  return Buffer.from([list, ...place].join('.'), 'latin1').toString('base64url');
}

function isPlace(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0;
}

function pathOfRoute({ routeOptions, params }: FastifyRequest): string {
  const values = new Map(Object.entries(params ?? {}));
  return (routeOptions.url ?? '').replaceAll(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(String(values.get(name))),
  );
}
