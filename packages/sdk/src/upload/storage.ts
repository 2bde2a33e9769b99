import { SignatureV4 } from '@smithy/signature-v4';
import { type Hash, type Hmac, createHash, createHmac } from 'node:crypto';
import type { HttpRequest } from '../send.ts';
import { Secret, readAddress } from '../settings.ts';

/** The storage credentials from `inlet partner create`, with the endpoint. */
export type StorageSettings = {
  /**
   * Storage endpoint, which must be `https://…`. Omit it for AWS. `http://` is accepted only for this machine or with
   * `allowHttp`.
   */
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** The partner's prefix, `<partner>/`. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
};

export type Storage = {
  /** Bucket URL without a trailing slash. */
  readonly url: URL;
  readonly region: string;
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
};

export function readStorage(settings: StorageSettings, allowHttp: boolean): Storage {
  const { endpoint, region, bucket, prefix, accessKeyId } = settings;
  for (const [name, value] of Object.entries({ region, bucket, accessKeyId })) {
    if (!/^[\x21-\x7e]+$/.test(value) || value.includes('/')) throw new TypeError(`storage.${name} is not valid`);
  }
  const address =
    endpoint === undefined
      ? addressAtAws(bucket, region)
      : `${readAddress(endpoint, { name: 'storage.endpoint', sent: 'the files', allowHttp })}/${bucket}`;
  const url = URL.parse(address);
  if (url === null) throw new TypeError('storage.bucket cannot be part of a URL');
  return { url, region, prefix, accessKeyId, secretAccessKey: new Secret(settings.secretAccessKey, 'secretAccessKey') };
}

/** Uses a path-style address if the bucket name has a dot, because `<bucket>.s3.…` does not match the certificate. */
function addressAtAws(bucket: string, region: string): string {
  const host = `s3.${region}.amazonaws.com`;
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}

export type StorageRequest = {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Object key, including the partner's prefix. */
  readonly key: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | string;
};

/**
 * Signs a request with AWS Signature Version 4. The signature covers the SHA-256 of the body, so the storage rejects a
 * corrupted body.
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

/** Signatures use RFC 3986 escapes, which are stricter than `encodeURIComponent`. */
function escape3986(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

type Bytes = string | ArrayBuffer | ArrayBufferView;

/** Implements the signer's hash interface with node:crypto. */
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
