import { CreateBucketCommand, DeleteObjectCommand } from '@aws-sdk/client-s3';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connectSharedStorage } from '../../src/entry/shared-bucket.ts';
import { device } from '../support/device-id.ts';
import { type Case, type Expectation, misconfigured, never } from './cases.ts';
import type { Site } from './site.ts';

// The object storage is not the one that files were loaded from before, or files change during a load.

const waiting = (doctor: RegExp): Expectation => ({ reason: /bucket_mismatch: [^"]{0,120}/, doctor });

/** Starts a storage that has the bucket but no objects. */
async function startEmptyStorage(): Promise<{ url: string; stop: () => void }> {
  const server = createServer((request, response) => {
    const isListing = request.url?.includes('list-type=2') === true;
    const body = isListing
      ? '<ListBucketResult><IsTruncated>false</IsTruncated><KeyCount>0</KeyCount></ListBucketResult>'
      : '<Error><Code>NoSuchKey</Code><Message>The object does not exist.</Message></Error>';
    response.writeHead(isListing ? 200 : 404, { 'content-type': 'application/xml' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the storage has no port');
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${address.port}`, stop };
}

/** Kills a worker after it has listed the second import, changes the file, and lets another worker load it. */
const changedAfterListing = (change: (site: Site) => Promise<unknown>): Case['run'] =>
  misconfigured(
    async (site) => {
      const listing = site.launch({ ...site.environment, INLET_FAILPOINT: 'after lanes.startImport' });
      if (listing.child.exitCode === null && listing.child.signalCode === null) await once(listing.child, 'exit');
      await change(site);
      return { undo: () => site.partner.upload('2.csv', site.secondFile) };
    },
    { reason: never, doctor: null, matched: 100, seconds: 60 },
  );

export const storageCases: readonly Case[] = [
  {
    number: 20,
    title: 'other bucket',
    run: misconfigured(
      async ({ stores }) => {
        const s3 = connectSharedStorage(stores.config);
        const bucket = `other-${stores.database.replaceAll('_', '-')}`;
        await s3.send(new CreateBucketCommand({ Bucket: bucket }));
        s3.destroy();
        return { settings: { INLET_S3_BUCKET: bucket } };
      },
      waiting(/^Recorded bucket: bucket_mismatch: Bucket "other-.*" has no ID/),
    ),
  },
  {
    number: 21,
    title: 'replaced S3 endpoint',
    run: misconfigured(
      async () => {
        const { url, stop } = await startEmptyStorage();
        return {
          settings: { INLET_S3_ENDPOINT: url },
          undo: async () => {
            stop();
            return Promise.resolve();
          },
        };
      },
      waiting(/^Recorded bucket: bucket_mismatch: Bucket ".*" has no ID/),
    ),
  },
  {
    number: 22,
    title: 'wrong S3 credentials',
    run: misconfigured(() => Promise.resolve({ settings: { INLET_S3_SECRET_ACCESS_KEY: 'wrong' } }), {
      reason: /SignatureDoesNotMatch/,
      doctor: /^Shared bucket: /,
    }),
  },
  {
    number: 23,
    title: 'wrong S3 region',
    run: misconfigured(() => Promise.resolve({ settings: { INLET_S3_REGION: 'eu-central-1' } }), {
      reason: /AuthorizationHeaderMalformed|PermanentRedirect/,
      doctor: /^Shared bucket: /,
      isHarmless: true,
    }),
  },
  {
    number: 24,
    title: 'file replaced between listing and loading',
    run: changedAfterListing(({ partner }) => partner.upload('2.csv', `${device(1)},sport\n`)),
  },
  {
    number: 25,
    title: 'file deleted between listing and loading',
    run: changedAfterListing(({ partner }) =>
      partner.s3.send(new DeleteObjectCommand({ Bucket: partner.bucket, Key: `${partner.prefix}2.csv` })),
    ),
  },
];
