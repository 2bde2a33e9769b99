import { finished } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { createHash, createHmac } from 'node:crypto';
import { Agent, type IncomingMessage, get as getHttp } from 'node:http';
import { Agent as SecureAgent, get as getHttps } from 'node:https';
import type { StoredObject } from '../../ports/object-store.ts';
import { type Agents, agentLimits } from '../guarded-agents.ts';
import { encodeRfc3986 } from '../rfc3986.ts';

// The SDK takes two milliseconds of CPU for a GET, whatever its size; with a thousand small files that is most of the
// load. Here is the one request that is made so often, with AWS Signature 4 and nothing else.

/** A small object that takes longer stands still. */
const longestMs = 60_000;
const openAgents: Agents = { http: new Agent(agentLimits), https: new SecureAgent(agentLimits) };

/**
 * All bytes of a small object as it was listed; null for every answer but a plain success, and for a storage that is
 * not addressed by path: the SDK asks again then, with its retries and its words for what is wrong.
 */
export async function quickGet(
  client: S3Client,
  bucket: string,
  object: StoredObject,
  signal: AbortSignal,
  agents = openAgents,
): Promise<Buffer | null> {
  const endpoint = await client.config.endpoint?.();
  if (!endpoint || client.config.forcePathStyle !== true) return null;
  const { protocol, hostname, port } = endpoint;
  const host = port === undefined ? hostname : `${hostname}:${port}`;
  const path = `/${encodeRfc3986(bucket)}/${object.key.split('/').map(encodeRfc3986).join('/')}`;
  const headers = { ...(await signature(client, host, path)), 'if-match': object.etag };
  const [send, pool] = protocol === 'https:' ? [getHttps, agents.https] : [getHttp, agents.http];
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const either = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
      send({ protocol, hostname, port, path, headers, agent: pool, signal: either }, resolve).once('error', reject);
    });
    const bytes = await bytesOf(answer);
    return answer.statusCode === 200 && bytes.length === object.size ? bytes : null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error) return null;
    throw error;
  }
}

const unsigned = 'UNSIGNED-PAYLOAD';

async function signature(client: S3Client, host: string, path: string): Promise<Record<string, string>> {
  const [credentials, region] = await Promise.all([client.config.credentials(), client.config.region()]);
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const scope = `${day}/${region}/s3/aws4_request`;
  const { sessionToken } = credentials;
  const headers: Record<string, string> = {
    host,
    'x-amz-content-sha256': unsigned,
    'x-amz-date': time,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  };
  const signedHeaders = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}`);
  const request = ['GET', path, '', ...lines, '', signedHeaders, unsigned];
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(request.join('\n')).digest('hex')];
  const key = signingKey(credentials, day, region);
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${hmac(key, text.join('\n')).toString('hex')}`,
  };
}

const keys = new WeakMap<object, { readonly of: string; readonly key: Buffer }>();

/** The same for a day; four of the five sums of a signature are for this. */
function signingKey(credentials: { readonly secretAccessKey: string }, day: string, region: string): Buffer {
  const of = `${day}/${region}`;
  const known = keys.get(credentials);
  if (known?.of === of) return known.key;
  const start = hmac(hmac(`AWS4${credentials.secretAccessKey}`, day), region);
  const key = ['s3', 'aws4_request'].reduce(hmac, start);
  keys.set(credentials, { of, key });
  return key;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** All bytes of a stream. By hand: `node:stream/consumers` goes through a Blob, which took 0.2 ms for each small file. */
export async function bytesOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await finished(stream);
  return Buffer.concat(chunks);
}
