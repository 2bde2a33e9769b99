import { GetObjectCommand } from '@aws-sdk/client-s3';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { z } from 'zod';
import type { TestPartner } from '../../test/support/partners.ts';
import { secondsOf } from '../bench.ts';

/** Opens one of the partner's objects. */
export async function openObject({ s3, bucket, prefix }: TestPartner, path: string): Promise<Readable> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: prefix + path }));
  return z.instanceof(Readable).parse(Body);
}

export async function readAndDiscard(partner: TestPartner, path: string): Promise<{ seconds: number; bytes: number }> {
  let bytes = 0;
  const seconds = await secondsOf(async () => {
    const body = await openObject(partner, path);
    body.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await finished(body);
  });
  return { seconds, bytes };
}
