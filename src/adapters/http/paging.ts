import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../../domain/failure.ts';
import { pathOf } from './path-of.ts';

// A cursor is the place of the last item of a page: a few numbers. Callers take it from the Link header as it is.

export function readCursor(cursor: string | undefined, length: number): number[] {
  if (cursor === undefined) return [];
  const numbers = cursor.split('.');
  if (numbers.length !== length || !numbers.every((number) => /^\d{1,16}$/.test(number))) {
    const detail = 'is not a cursor that this operation gave out.';
    throw new Failure('invalid_request', 'The cursor is not valid.', { fields: [{ pointer: '/cursor', detail }] });
  }
  return numbers.map(Number);
}

/** RFC 8288: where the next page is. */
export function linkNext(request: FastifyRequest, reply: FastifyReply, limit: number, place: readonly number[]): void {
  reply.header('link', `<${pathOf(request)}?limit=${limit}&cursor=${place.join('.')}>; rel="next"`);
}
