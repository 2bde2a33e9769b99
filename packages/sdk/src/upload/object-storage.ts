import { createHash } from 'node:crypto';
import { type Problem, type Failure, type Result, type StorageAnswer, fail, succeed } from '../result.ts';
import { type HttpAnswer, type RetrySettings, defaultRetry, sendWithRetries } from '../send.ts';
import { type Storage, type StorageRequest, sign } from './storage.ts';

// What S3 calls an object or a part by its content, unless it encrypts with a key of KMS: then no ETag is like these, and
// everything is sent again.

export function etagOf(bytes: Uint8Array): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

/** Of an object that came in parts: the sum of the sums, and how many. */
export function etagOfParts(etags: readonly string[]): string {
  const sums = etags.map((etag) => Buffer.from(etag.replaceAll('"', ''), 'hex'));
  return `"${createHash('md5').update(Buffer.concat(sums)).digest('hex')}-${etags.length}"`;
}

/** What an object of these parts must be called; null where the storage does not call parts by their content. */
export function expectedEtag(etags: readonly string[]): string | null {
  return etags.every((etag) => /^"[0-9a-f]{32}"$/.test(etag)) ? etagOfParts(etags) : null;
}

export type Part = { readonly number: number; readonly etag: string };

/** The seven requests of S3 that an upload takes, for objects below the issued prefix. */
export type ObjectStorage = {
  readonly put: (path: string, body: Uint8Array<ArrayBuffer>) => Promise<Result<{ readonly etag: string }>>;
  readonly begin: (path: string) => Promise<Result<{ readonly uploadId: string }>>;
  readonly putPart: (upload: Upload, number: number, body: Uint8Array<ArrayBuffer>) => Promise<Result<Part>>;
  readonly complete: (
    upload: Upload,
    parts: readonly Part[],
    bytes: number,
  ) => Promise<Result<{ readonly etag: string }>>;
  readonly remove: (upload: Upload) => Promise<Result<void>>;
  /** The ETags of the parts that an upload has, by number; null when there is no such upload any more. */
  readonly listParts: (upload: Upload) => Promise<Result<ReadonlyMap<number, string> | null>>;
  /** Null when there is no such object, or when it is not ours to know. */
  readonly head: (path: string) => Promise<Result<{ readonly size: number; readonly etag: string } | null>>;
};

export type Upload = { readonly path: string; readonly uploadId: string };

type Patience = { readonly timeoutMs: number; readonly signal: AbortSignal | undefined; readonly retry: RetrySettings };

/** `signal` does not reach what begins and ends an upload: an answer that nobody waits for leaves something behind. */
export function objectStorage(storage: Storage, signal: AbortSignal | undefined): ObjectStorage {
  const send = async (
    { path, ...request }: Omit<StorageRequest, 'key'> & { readonly path: string },
    patience: Patience,
  ): Promise<Result<HttpAnswer>> => {
    const signed = (): ReturnType<typeof sign> => sign(storage, { ...request, key: storage.prefix + path });
    const sent = await sendWithRetries(signed, isRetryable, patience);
    if (!sent.ok) return { ok: false, problem: { ...sent.problem, detail: `storage: ${sent.problem.detail}` } };
    const { status, text } = sent.answer;
    // A completion can fail after its status was sent: then the body says so.
    const isFine = status >= 200 && status < 300 && !text.includes('<Error>');
    return isFine ? succeed(sent.answer) : refusalOf(path, sent.answer, sent.attempts);
  };
  const forBytes = ({ byteLength }: Uint8Array): Patience => {
    return { timeoutMs: timeoutFor(byteLength), signal, retry: defaultRetry };
  };
  /** A large upload may take long to complete. */
  const toTheEnd = { timeoutMs: timeoutFor(0), signal: undefined, retry: defaultRetry };
  const forWords = { timeoutMs: 30_000, signal: undefined, retry: { ...defaultRetry, attempts: 3 } };

  return {
    put: async (path, body) => withEtag(await send({ method: 'PUT', path, query: {}, body }, forBytes(body))),
    begin: async (path) => {
      const answered = await send({ method: 'POST', path, query: { uploads: '' } }, forWords);
      if (!answered.ok) return answered;
      const uploadId = elementOf(answered.value.text, 'UploadId');
      return uploadId === null ? fail('storage_refused', `${path}: no UploadId came back.`) : succeed({ uploadId });
    },
    putPart: async ({ path, uploadId }, number, body) => {
      const query = { partNumber: String(number), uploadId };
      const answered = withEtag(await send({ method: 'PUT', path, query, body }, forBytes(body)));
      return answered.ok ? succeed({ number, etag: answered.value.etag }) : answered;
    },
    complete: async ({ path, uploadId }, parts, bytes) => {
      const list = parts.map(
        ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
      );
      const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
      const answered = await send({ method: 'POST', path, query: { uploadId }, body }, toTheEnd);
      if (answered.ok) return succeed({ etag: elementOf(answered.value.text, 'ETag') ?? '' });
      if (answered.problem.attempts === 1 || !isGone(answered.problem)) return answered;
      // An attempt before may have completed it, and only its answer was lost. Or somebody removed the upload, and what is
      // there is older.
      const there = await send({ method: 'HEAD', path, query: {} }, forWords);
      const expected = expectedEtag(parts.map(({ etag }) => etag));
      const isIt =
        there.ok &&
        there.value.headers.get('content-length') === String(bytes) &&
        (expected === null || there.value.headers.get('etag') === expected);
      return isIt ? withEtag(there) : answered;
    },
    remove: async ({ path, uploadId }) => {
      const query = { uploadId };
      // A part that was on its way can arrive after the removal: it is asked for until nothing is there.
      for (let round = 0; round < 3; round += 1) {
        const removed = await send({ method: 'DELETE', path, query }, forWords);
        if (!removed.ok && !isGone(removed.problem)) return removed;
        const left = await send({ method: 'GET', path, query }, forWords);
        if (!left.ok && isGoneOrDenied(left.problem)) return succeed(undefined);
      }
      return fail('storage_refused', `${path}: the unfinished upload could not be removed.`);
    },
    listParts: async ({ path, uploadId }) => {
      const etags = new Map<number, string>();
      for (let marker = '0'; ;) {
        const query = { uploadId, 'part-number-marker': marker };
        const listed = await send({ method: 'GET', path, query }, forWords);
        if (!listed.ok) return isGoneOrDenied(listed.problem) ? succeed(null) : listed;
        const { text } = listed.value;
        for (const [part] of text.matchAll(/<Part>.*?<\/Part>/gs)) {
          etags.set(Number(elementOf(part, 'PartNumber')), elementOf(part, 'ETag') ?? '');
        }
        const next = elementOf(text, 'NextPartNumberMarker');
        if (elementOf(text, 'IsTruncated') !== 'true' || next === null || next === marker) return succeed(etags);
        marker = next;
      }
    },
    head: async (path) => {
      const there = await send({ method: 'HEAD', path, query: {} }, forWords);
      if (!there.ok) return [403, 404].includes(answerOf(there.problem)?.status ?? 0) ? succeed(null) : there;
      const { headers } = there.value;
      return succeed({ size: Number(headers.get('content-length')), etag: headers.get('etag') ?? '' });
    },
  };
}

/** Five minutes, and longer for what is large: several parts share a line, and it may be a slow one. */
export function timeoutFor(bytes: number): number {
  const slowestBytesPerSecond = 16_384;
  return Math.max(300_000, Math.ceil((bytes / slowestBytesPerSecond) * 1000));
}

function isRetryable({ status, text }: HttpAnswer): boolean {
  if (status === 429 || status === 500 || status === 502 || status === 503 || status === 504) return true;
  return /<Code>(?:RequestTimeout|XAmzContentSHA256Mismatch|BadDigest|InternalError|SlowDown)<\/Code>/.test(text);
}

function withEtag(answered: Result<HttpAnswer>): Result<{ readonly etag: string }> {
  return answered.ok ? succeed({ etag: answered.value.headers.get('etag') ?? '' }) : answered;
}

function refusalOf(path: string, answer: HttpAnswer, attempts: number): Failure {
  const { status, headers, text } = answer;
  const code = elementOf(text, 'Code') ?? '';
  const said = [code, elementOf(text, 'Message') ?? ''].filter((part) => part !== '');
  const detail = `${path}: HTTP ${status}${said.length === 0 ? '' : `, ${said.join(': ')}`}`;
  // An answer to HEAD has no body; then the header alone names the request.
  const request_id = elementOf(text, 'RequestId') ?? headers.get('x-amz-request-id') ?? '';
  const storage = { status, code, request_id, may_pass: isRetryable(answer) };
  return { ok: false, problem: { ...fail('storage_refused', detail, attempts).problem, storage } };
}

function answerOf(problem: Problem): StorageAnswer | undefined {
  return problem.from === 'sdk' ? problem.storage : undefined;
}

function isGone(problem: Problem): boolean {
  return answerOf(problem)?.code === 'NoSuchUpload';
}

/** Ceph denies a look at the parts of an upload that is gone. Whoever is denied more than that is told by the next request. */
function isGoneOrDenied(problem: Problem): boolean {
  return isGone(problem) || answerOf(problem)?.code === 'AccessDenied';
}

function elementOf(xml: string, name: string): string | null {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text === undefined ? null : text.replaceAll('&quot;', '"').replaceAll('&#34;', '"').replaceAll('&amp;', '&');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
