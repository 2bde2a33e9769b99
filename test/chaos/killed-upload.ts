import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
} from '@aws-sdk/client-s3';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { setup } from '../support/global-setup.ts';
import { createPartner } from '../support/partners.ts';
import { createStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { printLine } from './print-line.ts';

// Kills `inlet upload` of a large file several times with SIGKILL, each time after more parts. Then runs the same
// command to completion and compares the SHA-256 of the object with that of the file.

const { values } = parseArgs({
  options: { gigabytes: { type: 'string', default: '2' }, kills: { type: 'string', default: '3' } },
});
const [gigabytes, kills] = [Number(values.gigabytes), Number(values.kills)];
if (!(gigabytes > 0) || !(kills >= 1)) throw new Error('Usage: npm run killed-upload -- [--gigabytes 2] [--kills 3]');
const mebibyte = 1024 * 1024;
const partSize = 8 * mebibyte;
const size = Math.round(gigabytes * 1000 ** 3);
const partCount = Math.ceil(size / partSize);

await setup();
const stores = await createStores('one');
const partner = await createPartner(stores.environment);
const { endpoint, region, providerAccessKeyId, providerSecretAccessKey } = readAddresses().s3;
const secretAccessKey = new Secret(providerSecretAccessKey);
const owner = connectS3({ endpoint, region, accessKeyId: providerAccessKeyId, secretAccessKey });
const folder = await mkdtemp(join(tmpdir(), 'inlet-killed-upload-'));
const path = join(folder, 'large.csv');
const where = { Bucket: partner.bucket, Key: `${partner.prefix}large.csv` };

const written = createHash('sha256');
async function* content(): AsyncGenerator<Buffer> {
  for (let left = size; left > 0; left -= mebibyte) {
    const bytes = randomBytes(Math.min(left, mebibyte));
    written.update(bytes);
    yield bytes;
  }
}
await pipeline(Readable.from(content()), createWriteStream(path));
const sum = written.digest('hex');
printLine(`the file has ${size} bytes in ${partCount} parts, sha256 ${sum}`);

const main = join(import.meta.dirname, '../../packages/cli/src/main.ts');
const { bucket, prefix, storageKeys } = partner;
const start = (): ChildProcess => {
  const child = spawn(process.execPath, [main, 'upload', path, '--json'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      PATH: '/usr/bin:/bin',
      HOME: folder,
      INLET_URL: 'http://127.0.0.1:1',
      INLET_API_KEY: 'none',
      INLET_STORAGE_ENDPOINT: endpoint,
      INLET_STORAGE_REGION: region,
      INLET_STORAGE_BUCKET: bucket,
      INLET_STORAGE_PREFIX: prefix,
      INLET_STORAGE_ACCESS_KEY_ID: storageKeys.accessKeyId,
      INLET_STORAGE_SECRET_ACCESS_KEY: storageKeys.secretAccessKey,
    },
  });
  process.once('exit', () => child.kill('SIGKILL')); // Kills the child if this process exits.
  return child;
};

async function uploadIds(): Promise<string[]> {
  const { Uploads = [] } = await owner.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }));
  return Uploads.flatMap(({ UploadId }) => UploadId ?? []);
}
async function uploadedParts(): Promise<number> {
  const [UploadId] = await uploadIds();
  if (UploadId === undefined) return 0;
  const { Parts = [] } = await partner.s3.send(new ListPartsCommand({ ...where, UploadId, MaxParts: 1000 }));
  return Parts.length;
}

const seenIds = new Set<string>();
for (let kill = 1; kill <= kills; kill += 1) {
  const wanted = Math.floor((partCount * kill) / (kills + 1));
  const child = start();
  const ended = once(child, 'close');
  await waitUntil(`${wanted} parts are uploaded`, async () => (await uploadedParts()) >= wanted, 600);
  child.kill('SIGKILL');
  await ended;
  for (const id of await uploadIds()) seenIds.add(id);
  printLine(`killed with ${child.signalCode} after ${await uploadedParts()} of ${partCount} parts`);
}
const begun = performance.now();
const last = start();
await once(last, 'close');
printLine(`the last run exited with ${last.exitCode} after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
const { Body: body } = await partner.s3.send(new GetObjectCommand(where));
if (!(body instanceof Readable)) throw new Error('no object');
const read = createHash('sha256');
for await (const chunk of body as AsyncIterable<Buffer>) read.update(chunk);
const found = read.digest('hex');
printLine(
  `sha256 of the object: ${found}; total uploads: ${seenIds.size}; unfinished uploads: ${(await uploadIds()).length}`,
);
await partner.s3.send(new DeleteObjectCommand(where));
await rm(folder, { recursive: true });
owner.destroy();
await stores.drop();
if (found !== sum || last.exitCode !== 0 || seenIds.size !== 1) {
  printLine('WRONG');
  process.exitCode = 1;
}
