import type { Problem } from '@inlet/contract/problem';
import { Failure } from '../../domain/failure.ts';

export const problemType = 'application/problem+json';

export function statusOf(failure: Failure): number {
  return failure.entry.status ?? 500;
}

/** Whether it was refused because of who called. */
export function isDenied(error: unknown): error is Failure {
  return error instanceof Failure && [401, 403].includes(statusOf(error));
}

/** RFC 9457. */
export function problemOf(failure: Failure, instance: string, requestId: string): Problem {
  return {
    type: `urn:inlet:error:${failure.code}`,
    title: failure.entry.title,
    status: statusOf(failure),
    detail: failure.detail,
    instance,
    code: failure.code,
    request_id: requestId,
    ...(failure.fields.length === 0 ? {} : { errors: [...failure.fields] }),
  };
}
