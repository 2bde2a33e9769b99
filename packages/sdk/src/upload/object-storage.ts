import { createHash } from 'node:crypto';
import { type Problem, type Failure, type Result, type StorageAnswer, fail, succeed } from '../result.ts';
import { type HttpResponse, type RetrySettings, defaultRetry, sendWithRetries } from '../send.ts';
import { type Storage, type StorageRequest, sign } from './storage.ts';

// S3 computes these ETags from the content. With KMS encryption, ETags are not MD5 hashes, so every file is uploaded
// again.

export function etagOf(bytes: Uint8Array): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

/** Computes the ETag of a multipart object. It consists of the MD5 of the parts' MD5s and the number of parts. */
export function etagOfParts(etags: readonly string[]): string {
  const sums = etags.map((etag) => Buffer.from(etag.replaceAll('"', ''), 'hex'));
  return `"${createHash('md5').update(Buffer.concat(sums)).digest('hex')}-${etags.length}"`;
}

/** Returns the expected ETag of an object with these parts. Null if the part ETags are not MD5s. */
export function expectedEtag(etags: readonly string[]): string | null {
  return etags.every((etag) => /^"[0-9a-f]{32}"$/.test(etag)) ? etagOfParts(etags) : null;
}

export type Part = { readonly number: number; readonly etag: string };

/** The seven S3 requests of an upload, for objects under the partner's prefix. */
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
  /** Returns the ETags of the uploaded parts by part number. Null if the upload no longer exists. */
  readonly listParts: (upload: Upload) => Promise<Result<ReadonlyMap<number, string> | null>>;
  /** Returns null if the object does not exist or access is denied. */
  readonly head: (path: string) => Promise<Result<{ readonly size: number; readonly etag: string } | null>>;
};

export type Upload = { readonly path: string; readonly uploadId: string };

type SendLimits = {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly retry: RetrySettings;
};

/**
 * `signal` does not abort requests that start or end an upload, because an unfinished upload would leave parts behind.
 */
export function objectStorage(storage: Storage, signal: AbortSignal | undefined): ObjectStorage {
  const send = async (
    { path, ...request }: Omit<StorageRequest, 'key'> & { readonly path: string },
    limits: SendLimits,
  ): Promise<Result<HttpResponse>> => {
    const signed = (): ReturnType<typeof sign> => sign(storage, { ...request, key: storage.prefix + path });
    const sent = await sendWithRetries(signed, isRetryable, limits);
    if (!sent.ok) return { ok: false, problem: { ...sent.problem, detail: `storage: ${sent.problem.detail}` } };
    const { status, text } = sent.response;
    // A completion can fail after the storage sent status 200. The body then contains the error.
    const isFine = status >= 200 && status < 300 && !text.includes('<Error>');
    return isFine ? succeed(sent.response) : refusalOf(path, sent.response, sent.attempts);
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
      const result = await send({ method: 'POST', path, query: { uploads: '' } }, forControl);
      if (!result.ok) return result;
      const uploadId = elementOf(result.value.text, 'UploadId');
      return uploadId === null
        ? fail('storage_refused', `${path}: the response has no UploadId.`)
        : succeed({ uploadId });
    },
    putPart: async ({ path, uploadId }, number, body) => {
      const query = { partNumber: String(number), uploadId };
      const result = withEtag(await send({ method: 'PUT', path, query, body }, forBytes(body)));
      return result.ok ? succeed({ number, etag: result.value.etag }) : result;
    },
    complete: async ({ path, uploadId }, parts, bytes) => {
      const list = parts.map(
        ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
      );
      const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
      const result = await send({ method: 'POST', path, query: { uploadId }, body }, forCompletion);
      if (result.ok) return succeed({ etag: elementOf(result.value.text, 'ETag') ?? '' });
      if (result.problem.attempts === 1 || !isGone(result.problem)) return result;
      // An earlier attempt may have succeeded even though its response was lost. If not, another process removed the
      // upload, and the object has older content.
      const there = await send({ method: 'HEAD', path, query: {} }, forControl);
      const expected = expectedEtag(parts.map(({ etag }) => etag));
      const isIt =
        there.ok &&
        there.value.headers.get('content-length') === String(bytes) &&
        (expected === null || there.value.headers.get('etag') === expected);
      return isIt ? withEtag(there) : result;
    },
    remove: async ({ path, uploadId }) => {
      const query = { uploadId };
      // A part in flight can arrive after the removal. Repeat the removal until no part is left.
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
      if (!there.ok) return [403, 404].includes(storageErrorOf(there.problem)?.status ?? 0) ? succeed(null) : there;
      const { headers } = there.value;
      return succeed({ size: Number(headers.get('content-length')), etag: headers.get('etag') ?? '' });
    },
  };
}

/**
 * Returns at least five minutes. The timeout is longer for large bodies, because several parts may share a slow
 * connection.
 */
export function timeoutFor(bytes: number): number {
  const slowestBytesPerSecond = 16_384;
  return Math.max(300_000, Math.ceil((bytes / slowestBytesPerSecond) * 1000));
}

function isRetryable({ status, text }: HttpResponse): boolean {
  if (status === 429 || status === 500 || status === 502 || status === 503 || status === 504) return true;
  return /<Code>(?:RequestTimeout|XAmzContentSHA256Mismatch|BadDigest|InternalError|SlowDown)<\/Code>/.test(text);
}

function withEtag(result: Result<HttpResponse>): Result<{ readonly etag: string }> {
  return result.ok ? succeed({ etag: result.value.headers.get('etag') ?? '' }) : result;
}

function refusalOf(path: string, response: HttpResponse, attempts: number): Failure {
  const { status, headers, text } = response;
  const code = elementOf(text, 'Code') ?? '';
  const message = [code, elementOf(text, 'Message') ?? ''].filter((part) => part !== '');
  const detail = `${path}: HTTP ${status}${message.length === 0 ? '' : `, ${message.join(': ')}`}`;
  // A HEAD response has no body, so read the ID from the header.
  const request_id = elementOf(text, 'RequestId') ?? headers.get('x-amz-request-id') ?? '';
  const storage = { status, code, request_id, may_pass: isRetryable(response) };
  return { ok: false, problem: { ...fail('storage_refused', detail, attempts).problem, storage } };
}

function storageErrorOf(problem: Problem): StorageAnswer | undefined {
  return problem.from === 'sdk' ? problem.storage : undefined;
}

function isGone(problem: Problem): boolean {
  return storageErrorOf(problem)?.code === 'NoSuchUpload';
}

/**
 * Ceph denies access to the parts of an upload that no longer exists. If access is really denied, the next request
 * fails.
 */
function isGoneOrDenied(problem: Problem): boolean {
  return isGone(problem) || storageErrorOf(problem)?.code === 'AccessDenied';
}

function elementOf(xml: string, name: string): string | null {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text === undefined ? null : text.replaceAll('&quot;', '"').replaceAll('&#34;', '"').replaceAll('&amp;', '&');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
