import { SignatureV4 } from '@smithy/signature-v4';
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { Secret } from '../../domain/secret.ts';
import { encodeRfc3986 } from '../rfc3986.ts';

export type CephAdmin = {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
};

export type AdminRequest = {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
};

export type AdminAnswer = { readonly status: number; readonly text: string };

const timeout = 10_000;

/** Sends a request to the gateway's admin or IAM interface, signed as AWS requests are. */
export async function sendSigned(admin: CephAdmin, request: AdminRequest): Promise<AdminAnswer> {
  const { hostname, port, protocol, host } = new URL(admin.endpoint);
  const signer = new SignatureV4({
    service: 's3',
    region: admin.region,
    credentials: { accessKeyId: admin.accessKeyId, secretAccessKey: admin.secretAccessKey.reveal() },
    sha256: Sha256,
    uriEscapePath: false,
  });
  const signed = await signer.sign({
    ...request,
    protocol,
    hostname,
    ...(port === '' ? {} : { port: Number(port) }),
    query: { ...request.query },
    headers: { host, 'x-amz-content-sha256': createHash('sha256').digest('hex') },
  });
  const { host: _host, ...headers } = signed.headers;
  const query = Object.entries(request.query).map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`);
  const answer = await fetch(`${admin.endpoint}${request.path}?${query.join('&')}`, {
    method: request.method,
    headers,
    redirect: 'error',
    signal: AbortSignal.timeout(timeout),
  });
  return { status: answer.status, text: await answer.text() };
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
