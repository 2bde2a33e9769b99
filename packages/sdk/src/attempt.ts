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
  const { url, method } = request;
  try {
    const answer = await fetch(url, {
      method,
      ...contentOf(request),
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

const pieceBytes = 262_144;

/**
 * Node ends a request on which nothing moves for five minutes, and a body that is handed over at once is one move, however
 * long it takes. In pieces, a slow line has as long as `timeoutMs` says.
 */
function contentOf({ headers, body }: HttpRequest): Pick<RequestInit, 'headers' | 'body' | 'duplex'> {
  if (body === undefined) return { headers };
  const isLarge = body instanceof Uint8Array && body.byteLength > pieceBytes && process.versions['bun'] === undefined;
  if (!isLarge) return { headers, body };
  // The storage takes no body of unknown length.
  const withLength = { ...headers, 'content-length': String(body.byteLength) };
  return { headers: withLength, body: piecesOf(body), duplex: 'half' };
}

function piecesOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  let given = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const piece = bytes.subarray(given, given + pieceBytes);
    given += piece.byteLength;
    if (piece.byteLength === 0) controller.close();
    else controller.enqueue(piece);
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
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
