import { SignatureV4 } from '@smithy/signature-v4';
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';

export type SigningKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
};

export type UnsignedRequest = {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly url: { readonly protocol: string; readonly hostname: string; readonly port?: number };
  /** Escaped with `encodeRfc3986`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The body of a form. */
  readonly form?: string;
};

/** Returns the headers of an S3 request without a body or with a form, signed with AWS Signature Version 4. */
export async function signRequest(
  keys: SigningKeys,
  region: string,
  { method, url, path, query = {}, form }: UnsignedRequest,
): Promise<Record<string, string>> {
  const signer = new SignatureV4({ service: 's3', region, credentials: keys, sha256: Sha256, uriEscapePath: false });
  const host = hostOf(url);
  const signed = await signer.sign({
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    path,
    query: { ...query },
    headers: {
      host,
      'x-amz-content-sha256': createHash('sha256')
        .update(form ?? '')
        .digest('hex'),
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    },
  });
  return signed.headers;
}

export type SignableRequest = UnsignedRequest & { readonly headers: Readonly<Record<string, string>> };

/** Returns a URL that anybody can use for this request until it expires. The request must have these headers. */
export async function presignUrl(
  keys: SigningKeys,
  region: string,
  { method, url, path, query = {}, headers }: SignableRequest,
  seconds: number,
): Promise<string> {
  const signer = new SignatureV4({ service: 's3', region, credentials: keys, sha256: Sha256, uriEscapePath: false });
  const host = hostOf(url);
  const signed = await signer.presign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path,
      query: { ...query },
      headers: { ...headers, host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
    },
    { expiresIn: seconds },
  );
  const parameters = Object.entries(signed.query ?? {}).map(
    ([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(String(value))}`,
  );
  return `${url.protocol}//${host}${path}?${parameters.join('&')}`;
}

function hostOf({ hostname, port }: UnsignedRequest['url']): string {
  return port === undefined ? hostname : `${hostname}:${port}`;
}

/** Signature Version 4 requires RFC 3986 escapes. encodeURIComponent leaves some characters unescaped. */
export function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
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
