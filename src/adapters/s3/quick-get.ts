import { finished } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { Agent, type IncomingMessage, get as getHttp } from 'node:http';
import { Agent as SecureAgent, get as getHttps } from 'node:https';
import type { StoredObject } from '../../ports/object-store.ts';
import { type Agents, agentLimits } from '../guarded-agents.ts';
import { encodeRfc3986, signRequest } from '../sign-request.ts';
import { responseTimeoutMs } from './connect.ts';

// A GET through the SDK takes 2 ms of CPU time regardless of the object's size, which dominates the time to load a
// thousand small files. This module sends the request without the SDK. Signing it takes 0.15 ms.

const openAgents: Agents = { http: new Agent(agentLimits), https: new SecureAgent(agentLimits) };

/**
 * Reads the listed version of a small object. Returns null for any status other than 200, or if the storage does not
 * use path-style addresses. The caller then repeats the request through the SDK, which retries and maps errors.
 */
export async function quickGet(
  client: S3Client,
  bucket: string,
  object: StoredObject,
  signal: AbortSignal,
  guarded?: Agents,
): Promise<Buffer | null> {
  const endpoint = await client.config.endpoint?.();
  if (!endpoint || client.config.forcePathStyle !== true) return null;
  const { protocol, hostname, port } = endpoint;
  const path = `/${encodeRfc3986(bucket)}/${object.key.split('/').map(encodeRfc3986).join('/')}`;
  const [keys, region] = await Promise.all([client.config.credentials(), client.config.region()]);
  const signed = await signRequest(keys, region, {
    method: 'GET',
    url: { protocol, hostname, ...(port === undefined ? {} : { port }) },
    path,
  });
  const headers = { ...signed, 'if-match': object.etag };
  const agents = guarded ?? openAgents;
  const timeoutMs = guarded ? responseTimeoutMs.partner : responseTimeoutMs.shared;
  const [send, agent] = protocol === 'https:' ? [getHttps, agents.https] : [getHttp, agents.http];
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      send({ protocol, hostname, port, path, headers, agent, signal: either }, resolve).once('error', reject);
    });
    const bytes = await bytesOf(response);
    return response.statusCode === 200 && bytes.length === object.size ? bytes : null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error) return null;
    throw error;
  }
}

/** Reads a stream into a buffer. `node:stream/consumers` creates a Blob, which takes 0.2 ms more per small file. */
export async function bytesOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await finished(stream);
  return Buffer.concat(chunks);
}
