import { SignatureV4 } from '@smithy/signature-v4';
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { HttpRequest } from '../attempt.ts';
import type { Storage } from './storage.ts';

export type StorageRequest = {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Of the object, with the issued prefix. */
  readonly key: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | string;
};

/**
 * Signed as AWS requests are. The sum of the body is part of the signature, so the storage refuses a body that was
 * damaged on the way.
 */
export async function sign(storage: Storage, request: StorageRequest): Promise<HttpRequest> {
  const { url, region, accessKeyId, secretAccessKey } = storage;
  const { method, query, body } = request;
  const path = `${url.pathname.replace(/\/$/, '')}/${request.key.split('/').map(escape3986).join('/')}`;
  const signer = new SignatureV4({
    service: 's3',
    region,
    credentials: { accessKeyId, secretAccessKey: secretAccessKey.reveal() },
    sha256: Sha256,
    uriEscapePath: false,
  });
  const signed = await signer.sign({
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    path,
    query: { ...query },
    headers: {
      host: url.host,
      'x-amz-content-sha256': createHash('sha256')
        .update(body ?? '')
        .digest('hex'),
    },
  });
  const { host: _host, ...headers } = signed.headers;
  const search = Object.entries(query).map(([name, value]) => `${escape3986(name)}=${escape3986(value)}`);
  return { method, url: `${url.origin}${path}${search.length === 0 ? '' : `?${search.join('&')}`}`, headers, body };
}

/** Signatures are made over RFC 3986 escapes, which are stricter than those of a browser. */
function escape3986(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

type Bytes = string | ArrayBuffer | ArrayBufferView;

/** What the signer asks of a hash, on Node's own. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: Bytes) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', toBuffer(secret));
  }

  update(data: Bytes): void {
    this.#hash.update(toBuffer(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

function toBuffer(data: Bytes): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(data);
}
