import type { Secret } from '../../domain/secret.ts';
import { encodeRfc3986, signRequest } from '../sign-request.ts';

export type CephAdmin = {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
};

export type AdminRequest = {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly form?: string;
};

export type AdminResponse = { readonly status: number; readonly text: string };

const timeoutMs = 10_000;

/** Sends a signed request to the gateway's admin, IAM, or SNS API. */
export async function sendSigned(admin: CephAdmin, request: AdminRequest): Promise<AdminResponse> {
  const { hostname, port, protocol } = new URL(admin.endpoint);
  const keys = { accessKeyId: admin.accessKeyId, secretAccessKey: admin.secretAccessKey.reveal() };
  const url = { protocol, hostname, ...(port === '' ? {} : { port: Number(port) }) };
  const { host: _host, ...headers } = await signRequest(keys, admin.region, { ...request, url });
  const query = Object.entries(request.query).map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`);
  const response = await fetch(`${admin.endpoint}${request.path}?${query.join('&')}`, {
    method: request.method,
    headers,
    ...(request.form === undefined ? {} : { body: request.form }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  return { status: response.status, text: await response.text() };
}
