import {
  AbortMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  type MultipartUpload,
  type S3Client,
} from '@aws-sdk/client-s3';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { type ProxyFault, startFaultyProxy } from '../support/faulty-proxy.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import type { Ran } from '../support/run-inlet.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

// Runs `inlet upload` against the real storage. A proxy between the command and the storage triggers the kill.

const mebibyte = 1024 * 1024;
const { endpoint, region, providerAccessKeyId, providerSecretAccessKey } = readAddresses().s3;
const main = join(import.meta.dirname, '../../packages/cli/src/main.ts');
const uploadedSchema = z.object({
  prefix: z.string(),
  files: z.array(z.object({ file_path: z.string(), bytes: z.number(), was_there: z.boolean().optional() })),
});

describe('inlet upload', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let owner: S3Client;
  let folder: string;
  let proxy: { readonly url: string; readonly close: () => Promise<void> };
  /** Returns the parts and whole files that were sent since the test started. */
  let sent: string[] = [];
  let decide: (count: number) => ProxyFault = () => 'pass';

  beforeAll(async () => {
    stores = await createStores('one');
    partner = await createPartner(stores.environment);
    const secretAccessKey = new Secret(providerSecretAccessKey);
    owner = connectS3({ endpoint, region, accessKeyId: providerAccessKeyId, secretAccessKey });
    folder = await mkdtemp(join(tmpdir(), 'inlet-cli-upload-'));
    proxy = await startFaultyProxy(endpoint, ({ method, url = '' }) => {
      if (method !== 'PUT') return 'pass';
      sent.push(/partNumber=(\d+)/.exec(url)?.[1] ?? 'whole');
      return decide(sent.length);
    });
  });
  afterAll(async () => {
    await proxy.close();
    owner.destroy();
    await stores.drop();
    await rm(folder, { recursive: true });
  });

  const start = (parameters: readonly string[]): ChildProcess => {
    sent = [];
    decide = () => 'pass';
    const { bucket, prefix, storageKeys } = partner;
    return spawn(process.execPath, [main, 'upload', '--part-size', '5', '--parallel', '1', ...parameters], {
      env: {
        PATH: '/usr/bin:/bin',
        HOME: folder,
        INLET_URL: 'http://127.0.0.1:1',
        INLET_API_KEY: 'none',
        INLET_STORAGE_ENDPOINT: proxy.url,
        INLET_STORAGE_REGION: region,
        INLET_STORAGE_BUCKET: bucket,
        INLET_STORAGE_PREFIX: prefix,
        INLET_STORAGE_ACCESS_KEY_ID: storageKeys.accessKeyId,
        INLET_STORAGE_SECRET_ACCESS_KEY: storageKeys.secretAccessKey,
      },
    });
  };
  const run = async (...parameters: string[]): Promise<Ran> => {
    const child = start(parameters);
    if (!child.stdout || !child.stderr) throw new Error('no streams');
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code: child.exitCode ?? -1, out, err };
  };
  const uploaded = async (...parameters: string[]): Promise<z.infer<typeof uploadedSchema>> => {
    const { code, out, err } = await run(...parameters, '--json');
    expect({ code, err }).toMatchObject({ code: 0 });
    return uploadedSchema.parse(JSON.parse(out));
  };
  /** Kills the process with SIGKILL while it sends the fourth part. That part and all later parts are lost. */
  const killAtFourthPart = async (...parameters: string[]): Promise<void> => {
    const child = start(parameters);
    decide = (count) => {
      if (count < 4) return 'pass';
      child.kill('SIGKILL');
      return 'unavailable';
    };
    await once(child, 'close');
    expect(child.signalCode).toBe('SIGKILL');
  };
  const sumInBucket = async (path: string): Promise<string> => {
    const query = { Bucket: partner.bucket, Key: partner.prefix + path };
    const { Body } = await partner.s3.send(new GetObjectCommand(query));
    return sumOf((await Body?.transformToByteArray()) ?? new Uint8Array(0));
  };
  const unfinished = async (): Promise<MultipartUpload[]> => {
    const query = { Bucket: partner.bucket, Prefix: partner.prefix };
    return (await owner.send(new ListMultipartUploadsCommand(query))).Uploads ?? [];
  };
  const partsThere = async (): Promise<number> => {
    const [{ Key, UploadId } = {}] = await unfinished();
    const listed = await partner.s3.send(new ListPartsCommand({ Bucket: partner.bucket, Key, UploadId }));
    return listed.Parts?.length ?? 0;
  };
  const removeUnfinished = async (): Promise<void> => {
    for (const { Key, UploadId } of await unfinished()) {
      await owner.send(new AbortMultipartUploadCommand({ Bucket: partner.bucket, Key, UploadId }));
    }
  };
  const notes = (): Promise<string[]> => readdir(join(folder, '.local/state/inlet/uploads'));

  it('resumes after kill -9, sends nothing twice, and stores the correct content', async () => {
    const path = join(folder, 'killed.csv');
    const content = bytesOf(33 * mebibyte, 1);
    await writeFile(path, content);
    await killAtFourthPart(path, '--prefix', 'killed');
    expect(await unfinished()).toHaveLength(1);
    expect(await notes()).toHaveLength(1);
    const done = await uploaded(path, '--prefix', 'killed');
    expect(done).toEqual({
      prefix: 'killed/',
      files: [expect.objectContaining({ file_path: 'killed/killed.csv', bytes: 33 * mebibyte })],
    });
    expect(sent).toEqual(['4', '5', '6', '7']);
    expect(await sumInBucket('killed/killed.csv')).toBe(sumOf(content));
    expect(await unfinished()).toEqual([]);
    expect(await notes()).toEqual([]);
    // Another run finds the uploaded file.
    expect((await uploaded(path, '--prefix', 'killed')).files).toEqual([expect.objectContaining({ was_there: true })]);
    expect(sent).toEqual([]);
  });

  it('restarts the upload of a changed file and removes the old parts', async () => {
    const path = join(folder, 'changed.csv');
    await writeFile(path, bytesOf(23 * mebibyte, 1));
    await killAtFourthPart(path);
    const content = bytesOf(23 * mebibyte, 2);
    await writeFile(path, content);
    await uploaded(path);
    expect(sent).toEqual(['1', '2', '3', '4', '5']);
    expect(await sumInBucket('changed.csv')).toBe(sumOf(content));
    expect(await unfinished()).toEqual([]);
    expect(await notes()).toEqual([]);
  });

  it('resends a part whose content differs, even if the file time is unchanged', async () => {
    const path = join(folder, 'same-time.csv');
    const content = bytesOf(23 * mebibyte, 3);
    await writeFile(path, content);
    const { atime, mtime } = await stat(path);
    await utimes(path, atime, mtime); // Restores the times as precisely as utimes can.
    await killAtFourthPart(path);
    content[7 * mebibyte] = (content[7 * mebibyte] ?? 0) ^ 1;
    await writeFile(path, content);
    await utimes(path, atime, mtime);
    await uploaded(path);
    expect(sent).toEqual(['2', '4', '5']);
    expect(await sumInBucket('same-time.csv')).toBe(sumOf(content));
  });

  it('uploads a file again if its content differs from an object of the same size', async () => {
    const path = join(folder, 'twice.csv');
    for (const [size, seed] of [
      [11 * mebibyte, 1],
      [11 * mebibyte, 2],
      [1_000, 3],
      [1_000, 4],
    ] as const) {
      await writeFile(path, bytesOf(size, seed));
      expect((await uploaded(path)).files[0]?.was_there).toBeUndefined();
      expect(await sumInBucket('twice.csv')).toBe(sumOf(bytesOf(size, seed)));
      expect((await uploaded(path)).files[0]?.was_there).toBe(true);
    }
  });

  it('removes the parts of a failed file with --no-resume and keeps them otherwise', async () => {
    const path = join(folder, 'interrupted.csv');
    await writeFile(path, bytesOf(23 * mebibyte, 5));
    const interrupt = async (...more: string[]): Promise<Ran> => {
      const child = start([path, ...more]);
      decide = (count) => {
        if (count === 3) child.kill('SIGINT');
        return 'pass';
      };
      if (!child.stdout || !child.stderr) throw new Error('no streams');
      const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      return { code: child.exitCode ?? -1, out, err };
    };
    expect(await interrupt('--no-resume')).toMatchObject({ code: 130, out: '' });
    expect(await unfinished()).toEqual([]);
    const { code, err } = await interrupt();
    expect(code).toBe(130);
    expect(err).toContain('Run the same command again to resume.');
    expect(await unfinished()).toHaveLength(1);
    await uploaded(path);
    expect(sent.length).toBeLessThanOrEqual(3);
    expect(await sumInBucket('interrupted.csv')).toBe(sumOf(bytesOf(23 * mebibyte, 5)));
  });

  it('resumes an upload with several parallel parts', async () => {
    const path = join(folder, 'parallel.csv');
    const content = bytesOf(33 * mebibyte, 6);
    await writeFile(path, content);
    await killAtFourthPart(path, '--parallel', '4');
    await waitUntil('three parts are stored', async () => (await partsThere()) === 3);
    await uploaded(path, '--parallel', '4');
    expect(sent).toHaveLength(4);
    expect(await sumInBucket('parallel.csv')).toBe(sumOf(content));
    expect(await unfinished()).toEqual([]);
  });

  it('restarts the upload if the part size changed or the saved state is unreadable', async () => {
    const path = join(folder, 'restarted.csv');
    const content = bytesOf(23 * mebibyte, 7);
    await writeFile(path, content);
    await killAtFourthPart(path);
    await uploaded(path, '--part-size', '6');
    expect(sent).toEqual(['1', '2', '3', '4']);
    expect(await sumInBucket('restarted.csv')).toBe(sumOf(content));
    expect(await unfinished()).toEqual([]);

    await killAtFourthPart(path, '--prefix', 'again');
    const [note = ''] = await notes();
    await writeFile(join(folder, '.local/state/inlet/uploads', note), '{"uploadId": ');
    await uploaded(path, '--prefix', 'again');
    expect(sent).toEqual(['1', '2', '3', '4', '5']);
    expect(await sumInBucket('again/restarted.csv')).toBe(sumOf(content));
    // The first upload is abandoned. A bucket lifecycle rule removes it.
    expect(await unfinished()).toHaveLength(1);
    await removeUnfinished();
    expect(await notes()).toEqual([]);
  });

  it('stores a correct object if two runs upload it concurrently, and the next run finds it', async () => {
    const path = join(folder, 'at-once.csv');
    const content = bytesOf(23 * mebibyte, 8);
    await writeFile(path, content);
    const both = await Promise.all([run(path), run(path)]);
    expect(both.map(({ code }) => code)).toContain(0);
    expect(both.filter(({ code, err }) => code !== 0 && !err.includes('NoSuchUpload'))).toEqual([]);
    expect((await uploaded(path)).files).toEqual([expect.objectContaining({ was_there: true })]);
    expect(await sumInBucket('at-once.csv')).toBe(sumOf(content));
    expect(await unfinished()).toEqual([]);
  });

  it('uploads folders with their content and prints no progress without a terminal', async () => {
    const below = join(folder, 'export');
    await mkdir(join(below, 'day'), { recursive: true });
    await writeFile(join(below, 'b.csv'), 'b');
    await writeFile(join(below, 'day/a.csv'), 'a');
    await writeFile(join(below, '.hidden'), 'x');
    const { code, out, err } = await run(below, '--prefix', 'folder');
    expect(code).toBe(0);
    expect(out).toContain('folder/b.csv');
    expect(out).toContain('folder/day/a.csv');
    expect(out).toContain('2 files, 2 B');
    for (const unwanted of ['hidden', '\x1b', '\r']) expect(out + err).not.toContain(unwanted);
    expect(err).toBe('Import with: inlet import folder/\n');
    expect(await sumInBucket('folder/day/a.csv')).toBe(sumOf(Buffer.from('a')));
  });

  it('reports invalid paths', async () => {
    const missing = await run(join(folder, 'none.csv'));
    expect(missing.code).toBe(2);
    expect(missing.err).toMatch(/wrong_use.*The file or folder .* does not exist/);
    await writeFile(join(folder, 'a.csv'), 'a');
    const elsewhere = await run(join(folder, 'a.csv'), '--prefix', '../other');
    expect(elsewhere.code).toBe(2);
    expect(elsewhere.err).toContain('is not a path');
  });
});

/** Returns deterministic bytes for a seed, without short repetitions. */
function bytesOf(length: number, seed: number): Buffer {
  const block = createHash('sha512').update(String(seed)).digest();
  const bytes = Buffer.alloc(length);
  for (let n = 0; n < length; n += 1) bytes[n] = (block[n % 64] ?? 0) ^ (n >> 6);
  return bytes;
}

function sumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
