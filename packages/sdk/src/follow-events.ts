import { isRetryable, readResponse } from './read-response.ts';
import type { Call, ServerEvent } from './call.ts';
import { type Connection, makeRequest, withoutCredentials } from './make-request.ts';
import { type Result, fail, succeed } from './result.ts';
import { delayAfter, describe, readRetryAfter, abortedBy, rest } from './send.ts';

type RawEvent = { readonly id: string; readonly event: string; readonly data: string };

/** Parses server-sent events. Calls `onBytes` for comments too, because they keep the stream alive. */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<RawEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      text += decoder.decode(value, { stream: true });
      const blocks = text.split(/\r\n\r\n|\n\n|\r\r/);
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = readBlock(block);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function readBlock(block: string): RawEvent | null {
  const fields = block.split(/\r\n|\n|\r/).flatMap((line) => {
    const [, name = '', value = ''] = /^([a-z]+):? ?(.*)$/s.exec(line) ?? [];
    return name === '' ? [] : [{ name, value }];
  });
  const last = (name: string): string => fields.findLast((field) => field.name === name)?.value ?? '';
  const data = fields.filter(({ name }) => name === 'data').map(({ value }) => value);
  if (data.length === 0) return null;
  return { id: last('id'), event: last('event') || 'message', data: data.join('\n') };
}

/** The last event of a job, after which the API ends the stream. */
const lastEvent = 'done';

const reconnectMs = 1_000;

/**
 * Yields the events of a job. If the connection breaks or no data arrives for `timeoutMs`, reconnects and continues
 * after the last received event.
 */
export async function* followEvents<T>(
  connection: Connection,
  call: Call,
): AsyncGenerator<Result<ServerEvent<T>>, void, undefined> {
  const signal = call.options?.signal;
  const seen = { id: '', attempts: 0, hasLived: false };
  for (;;) {
    seen.attempts += 1;
    seen.hasLived = false;
    const accept = 'text/event-stream, application/problem+json';
    const headers = { ...call.headers, accept, ...(seen.id === '' ? {} : { 'last-event-id': seen.id }) };
    const made = makeRequest(connection, { ...call, headers });
    if (!made.ok) return yield made;
    let problem: Result<never> = fail('network_failed', 'The stream ended early.', seen.attempts);
    let retryAfter: number | null = null;
    const silence = new AbortController();
    const silenceMs = call.options?.timeoutMs ?? connection.timeoutMs;
    let timer = setTimeout(() => silence.abort(), silenceMs);
    try {
      const { url, method } = made.value;
      const until = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
      const response = await fetch(url, { method, headers: made.value.headers, redirect: 'manual', signal: until });
      // The job has ended and its last record was already received, so no more events follow.
      if (response.status === 204) return;
      if (response.status === 200 && response.body) {
        const onBytes = (): void => {
          seen.hasLived = true;
          clearTimeout(timer);
          timer = setTimeout(() => silence.abort(), silenceMs);
        };
        for await (const { id, event, data } of readEvents(response.body, onBytes)) {
          if (id !== '') seen.id = id;
          const record = parseRecord<T>(data);
          if (!record.ok) return yield record;
          yield succeed({ id, event, data: record.value });
          if (event === lastEvent) return;
        }
      } else {
        retryAfter = readRetryAfter(response.headers.get('retry-after'));
        const whole = { status: response.status, headers: response.headers, text: await response.text() };
        const result = readResponse<never>(whole, seen.attempts);
        problem = result.ok ? fail('unreadable_answer', 'The response is not an event stream.', seen.attempts) : result;
        if (!isRetryable(whole)) return yield problem;
      }
    } catch (error) {
      if (signal?.aborted) return yield abortedBy(signal, seen.attempts);
      const detail = withoutCredentials(connection, describe(error));
      problem = silence.signal.aborted
        ? fail('timed_out', `The stream sent no data for ${silenceMs} ms.`, seen.attempts)
        : fail('network_failed', detail, seen.attempts);
    } finally {
      clearTimeout(timer);
      silence.abort();
    }
    // The API ends streams from time to time, so that clients authenticate again.
    if (seen.hasLived) seen.attempts = 0;
    const delay = seen.hasLived ? reconnectMs : delayAfter(seen.attempts, retryAfter, connection.retry);
    if (delay === null) return yield problem;
    if (!(await rest(delay, signal)) && signal) return yield abortedBy(signal, seen.attempts);
  }
}

function parseRecord<T>(data: string): Result<T> {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as in read-response.ts
    return succeed(JSON.parse(data) as T);
  } catch {
    return fail('unreadable_answer', 'The data of an event is not JSON.');
  }
}
