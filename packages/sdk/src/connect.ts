import { isRetryable, readResponse } from './read-response.ts';
import type { Api, CallApi } from './call.ts';
import { followEvents } from './follow-events.ts';
import { type Connection, makeRequest, withoutCredentials } from './make-request.ts';
import { type HttpResponse, sendWithRetries } from './send.ts';

/** Sends calls with authentication, idempotency keys for writes, and retries. */
export function connect(connection: Connection): Api {
  return { call: caller(connection), follow: (call) => followEvents(connection, call) };
}

function caller(connection: Connection): CallApi {
  return async (call) => {
    const made = makeRequest(connection, call);
    if (!made.ok) return made;
    const request = made.value;
    const shouldRetry = (response: HttpResponse): boolean =>
      !call.acceptedStatuses?.includes(response.status) && isRetryable(response);
    const timeoutMs = call.options?.timeoutMs ?? connection.timeoutMs;
    const sent = await sendWithRetries(() => request, shouldRetry, {
      timeoutMs,
      signal: call.options?.signal,
      retry: connection.retry,
    });
    if (sent.ok) return readResponse(sent.response, sent.attempts, call.acceptedStatuses);
    return { ok: false, problem: { ...sent.problem, detail: withoutCredentials(connection, sent.problem.detail) } };
  };
}
