import { Readable } from 'node:stream';
import { maxRetryAfterSeconds } from '../../domain/drop.ts';
import { Failure } from '../../domain/failure.ts';
import type { Secret } from '../../domain/secret.ts';
import { readRetryAfter } from '../../domain/webhook-schedule.ts';
import type { DownloadResult, DropApi, DropDelay, UploadResult } from '../../ports/drop.ts';

// The data broker API of California's DROP, version 1.2.0.

type Settings = { readonly url: string; readonly apiKey: Secret; readonly timeoutMs?: number };

/** Time for a whole request. An archive can have 2 GB. */
const defaultTimeoutMs = 3_600_000;

/** Maximum size of a response that is read as a message. */
const maxResponseBytes = 1024 * 1024;
const maxMessageLength = 300;

export function httpDropApi({ url, apiKey, timeoutMs = defaultTimeoutMs }: Settings): DropApi {
  const base = url.replace(/\/+$/, '');
  const request = async (path: string, init: RequestInit, signal: AbortSignal): Promise<Response | DropDelay> => {
    try {
      return await fetch(base + path, {
        ...init,
        headers: { accept: 'application/zip, application/json', 'X-API-KEY': apiKey.reveal() },
        // Otherwise, the key would be sent to the address of the redirect.
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
    } catch (error) {
      signal.throwIfAborted();
      return { ...delay('drop', null, `DROP cannot be reached (${causeOf(error)}).`), isUncertain: true };
    }
  };
  const upload = async (
    path: string,
    { name, content }: { readonly name: string; readonly content: Buffer },
    signal: AbortSignal,
  ): Promise<UploadResult> => {
    const body = new FormData();
    body.append('files', new Blob([Uint8Array.from(content)], { type: 'text/csv' }), name);
    const response = await request(path, { method: 'POST', body }, signal);
    if (!(response instanceof Response)) return response;
    const answer = await readAnswer(response);
    if (response.status === 409) return { is: 'no_batch', message: answer.message };
    if (response.status !== 202 && response.status !== 400) return delayOf(response, answer.message);
    if (answer.accepted.includes(name)) return { is: 'accepted', message: answer.message };
    const reason = answer.rejected.get(name);
    // A file that the response does not name may have been accepted.
    if (response.status === 202 && reason === undefined)
      return { ...delay('drop', response, 'The response does not name the file.'), isUncertain: true };
    return { is: 'rejected', message: reason ?? answer.message };
  };
  return {
    download: async (signal) => {
      const response = await request('/data/download', {}, signal);
      if (!(response instanceof Response)) return response;
      if (response.status === 200) return readContent(response);
      const { message } = await readAnswer(response);
      if (response.status === 202) return delay('archive', response, message);
      if (response.status === 409) return delay('previous_batch', response, message);
      return delayOf(response, message);
    },
    upload: (file, signal) => upload('/data/upload', file, signal),
    amend: (file, signal) => upload('/data/amend', file, signal),
  };
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.name;
  return 'error';
}

function delay(reason: DropDelay['reason'], response: Response | null, message: string): DropDelay {
  const given = readRetryAfter(response?.headers.get('retry-after') ?? undefined, new Date());
  const retryAfterSeconds = given === null ? null : Math.min(Math.max(given, 1), maxRetryAfterSeconds);
  return { is: 'delayed', reason, retryAfterSeconds, message, isUncertain: false };
}

/** Temporary errors are tried again. All others require the operator to act. */
function delayOf(response: Response, message: string): DropDelay {
  const { status } = response;
  if (status === 429) return delay('drop', response, message);
  if (status >= 500) return { ...delay('drop', response, message), isUncertain: true };
  const isOfKey = status === 401 || status === 403;
  const action = isOfKey ? 'Check INLET_DROP_API_KEY and the account.' : 'Check INLET_DROP_URL.';
  throw new Failure('invalid_request', `DROP answered with status ${status}: ${message} ${action}`);
}

/** DROP delivers an archive only once, so only the documented message counts as a message. */
async function readContent(response: Response): Promise<DownloadResult> {
  const chunks = chunksOf(response);
  const read: Buffer[] = [];
  let next = await chunks.next();
  if (isJson(response)) {
    for (let bytes = 0; !next.done && bytes <= maxResponseBytes; next = await chunks.next()) {
      bytes += next.value.length;
      read.push(next.value);
    }
    if (next.done && isMessage(parseJson(Buffer.concat(read).toString()))) return { is: 'nothing_new' };
  }
  const all = async function* (): AsyncGenerator<Buffer> {
    yield* read;
    if (next.done) return;
    yield next.value;
    yield* chunks;
  };
  return { is: 'content', name: nameOf(response), body: Readable.from(all(), { objectMode: false }) };
}

async function* chunksOf({ body }: Response): AsyncGenerator<Buffer> {
  if (body) yield* Readable.fromWeb(body) as AsyncIterable<Buffer>;
}

function isJson({ headers }: Response): boolean {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === 'application/json';
}

/** The documented form has one field. */
function isMessage(json: unknown): boolean {
  return (
    typeof json === 'object' &&
    json !== null &&
    Object.keys(json).join() === 'message' &&
    textOf(fieldOf(json, 'message')) !== ''
  );
}

function nameOf({ headers }: Response): string | null {
  const disposition = headers.get('content-disposition') ?? '';
  const [, quoted, plain] = /filename=(?:"([^"]*)"|([^;\s]+))/i.exec(disposition) ?? [];
  const [, encoded = null] = /filename\*=UTF-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  return quoted ?? plain ?? (encoded && decoded(encoded));
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

type Answer = {
  readonly message: string;
  readonly accepted: readonly string[];
  readonly rejected: ReadonlyMap<string, string>;
};

/** The body of an error can be anything, for example a page from a proxy. */
async function readAnswer(response: Response): Promise<Answer> {
  const json = parseJson(await readText(response));
  const message = textOf(fieldOf(json, 'message')) || `status ${response.status}`;
  const files = (field: string): (readonly [string, string])[] => {
    const given = fieldOf(json, field);
    return Array.isArray(given)
      ? given.map((one) => [textOf(fieldOf(one, 'fileName')), textOf(fieldOf(one, 'message'))])
      : [];
  };
  return { message, accepted: files('accepted').map(([name]) => name), rejected: new Map(files('rejected')) };
}

async function readText(response: Response): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(response)) {
    bytes += chunk.length;
    if (bytes > maxResponseBytes) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** The text is printed, so it must not contain control characters. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, ' ').slice(0, maxMessageLength) : '';
}
