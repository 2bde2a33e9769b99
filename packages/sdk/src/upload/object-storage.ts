import { createHash } from 'node:crypto';
import { type Problem, type Failure, type Result, type StorageAnswer, fail, succeed } from '../result.ts';
import { type HttpAnswer, type RetrySettings, defaultRetry, sendWithRetries } from '../send.ts';
import { type Storage, type StorageRequest, sign } from './storage.ts';

// ETags that S3 computes from the content. With KMS encryption, ETags have another form, and everything is sent again.

export function etagOf(bytes: Uint8Array): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

/** ETag of a multipart object: the MD5 of the parts' MD5s, and the number of parts. */
export function etagOfParts(etags: readonly string[]): string {
  const sums = etags.map((etag) => Buffer.from(etag.replaceAll('"', ''), 'hex'));
  return `"${createHash('md5').update(Buffer.concat(sums)).digest('hex')}-${etags.length}"`;
}

/** The expected ETag of an object with these parts; null if the part ETags are not MD5s. */
export function expectedEtag(etags: readonly string[]): string | null {
  return etags.every((etag) => /^"[0-9a-f]{32}"$/.test(etag)) ? etagOfParts(etags) : null;
}

export type Part = { readonly number: number; readonly etag: string };

/** The seven S3 requests that an upload needs, for objects under the issued prefix. */
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
  /** The ETags of the uploaded parts by number; null if the upload no longer exists. */
  readonly listParts: (upload: Upload) => Promise<Result<ReadonlyMap<number, string> | null>>;
  /** Null if the object does not exist or access is denied. */
  readonly head: (path: string) => Promise<Result<{ readonly size: number; readonly etag: string } | null>>;
};

export type Upload = { readonly path: string; readonly uploadId: string };

type SendLimits = {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly retry: RetrySettings;
};

/** `signal` does not abort requests that start or end an upload, because an unfinished one would leave parts behind. */
export function objectStorage(storage: Storage, signal: AbortSignal | undefined): ObjectStorage {
  const send = async (
    { path, ...request }: Omit<StorageRequest, 'key'> & { readonly path: string },
    limits: SendLimits,
  ): Promise<Result<HttpAnswer>> => {
    const signed = (): ReturnType<typeof sign> => sign(storage, { ...request, key: storage.prefix + path });
    const sent = await sendWithRetries(signed, isRetryable, limits);
    if (!sent.ok) return { ok: false, problem: { ...sent.problem, detail: `storage: ${sent.problem.detail}` } };
    const { status, text } = sent.answer;
    // A completion can fail after status 200 was sent; then the body contains the error.
    const isFine = status >= 200 && status < 300 && !text.includes('<Error>');
    return isFine ? succeed(sent.answer) : refusalOf(path, sent.answer, sent.attempts);
  };
  const forBytes = ({ byteLength }: Uint8Array): SendLimits => {
    return { timeoutMs: timeoutFor(byteLength), signal, retry: defaultRetry };
  };
  /** Completing a large upload may take a long time. */
  const forCompletion = { timeoutMs: timeoutFor(0), signal: undefined, retry: defaultRetry };
  const forControl = { timeoutMs: 30_000, signal: undefined, retry: { ...defaultRetry, attempts: 3 } };

  return {
    put: async (path, body) => withEtag(await send({ method: 'PUT', path, query: {}, body }, forBytes(body))),
    begin: async (path) => {
      const answered = await send({ method: 'POST', path, query: { uploads: '' } }, forControl);
      if (!answered.ok) return answered;
      const uploadId = elementOf(answered.value.text, 'UploadId');
      return uploadId === null
        ? fail('storage_refused', `${path}: the response has no UploadId.`)
        : succeed({ uploadId });
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
      const answered = await send({ method: 'POST', path, query: { uploadId }, body }, forCompletion);
      if (answered.ok) return succeed({ etag: elementOf(answered.value.text, 'ETag') ?? '' });
      if (answered.problem.attempts === 1 || !isGone(answered.problem)) return answered;
      // An earlier attempt may have succeeded although its response was lost. Otherwise, the upload was removed and the
      // object is older.
      const there = await send({ method: 'HEAD', path, query: {} }, forControl);
      const expected = expectedEtag(parts.map(({ etag }) => etag));
      const isIt =
        there.ok &&
        there.value.headers.get('content-length') === String(bytes) &&
        (expected === null || there.value.headers.get('etag') === expected);
      return isIt ? withEtag(there) : answered;
    },
    remove: async ({ path, uploadId }) => {
      const query = { uploadId };
      // A part in flight can arrive after the removal, so the removal is repeated until no part is left.
      for (let round = 0; round < 3; round += 1) {
        const removed = await send({ method: 'DELETE', path, query }, forControl);
        if (!removed.ok && !isGone(removed.problem)) return removed;
        const left = await send({ method: 'GET', path, query }, forControl);
        if (!left.ok && isGoneOrDenied(left.problem)) return succeed(undefined);
      }
      return fail('storage_refused', `${path}: the unfinished upload could not be removed.`);
    },
    listParts: async ({ path, uploadId }) => {
      const etags = new Map<number, string>();
      for (let marker = '0'; ;) {
        const query = { uploadId, 'part-number-marker': marker };
        const listed = await send({ method: 'GET', path, query }, forControl);
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
      const there = await send({ method: 'HEAD', path, query: {} }, forControl);
      if (!there.ok) return [403, 404].includes(answerOf(there.problem)?.status ?? 0) ? succeed(null) : there;
      const { headers } = there.value;
      return succeed({ size: Number(headers.get('content-length')), etag: headers.get('etag') ?? '' });
    },
  };
}

/** At least five minutes, and longer for large bodies, because several parts may share a slow connection. */
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
  const message = [code, elementOf(text, 'Message') ?? ''].filter((part) => part !== '');
  const detail = `${path}: HTTP ${status}${message.length === 0 ? '' : `, ${message.join(': ')}`}`;
  // A HEAD response has no body, so the ID comes from the header.
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

/** Ceph denies listing the parts of an upload that no longer exists. A real denial shows in the next request. */
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
