import { refuse, succeed, type LocalProblem, type Success } from './result.ts';

export type HttpRequest = {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
};

export type HttpAnswer = { readonly status: number; readonly headers: Headers; readonly text: string };

export type Limits = { readonly timeoutMs: number; readonly signal: AbortSignal | undefined };

/** One request and its whole answer. Redirects are not followed: nothing that is sent is meant for another address. */
export async function attempt(
  request: HttpRequest,
  { timeoutMs, signal }: Limits,
): Promise<Success<HttpAnswer> | { readonly ok: false; readonly problem: LocalProblem }> {
  const timer = AbortSignal.timeout(timeoutMs);
  const { url, method, headers, body } = request;
  try {
    const answer = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timer]) : timer,
    });
    return succeed({ status: answer.status, headers: answer.headers, text: await answer.text() });
  } catch (error) {
    if (signal?.aborted) return refuseForSignal(signal);
    if (timer.aborted) return refuse('timed_out', `No answer within ${timeoutMs} ms.`);
    return refuse('network_failed', describe(error));
  }
}

/** A signal of `AbortSignal.timeout` is a time limit like any other. */
export function refuseForSignal(signal: AbortSignal, attempts = 1): ReturnType<typeof refuse> {
  const isTimeout = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  return isTimeout
    ? refuse('timed_out', 'The time limit of the signal ran out.', attempts)
    : refuse('aborted', 'The signal ended the call.', attempts);
}

/** `fetch failed` says nothing; the cause does. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
  return cause.message.includes(code) ? cause.message : `${code}: ${cause.message}`.replace(/: $/, '');
}
