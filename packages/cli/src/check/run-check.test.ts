import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { marketplaceRules as rules } from '../../../../test/support/check-rules.ts';
import { fakeTerminal } from '../../../../test/support/fake-terminal.ts';
import { type ScriptedServer, sendJson, startScriptedServer } from '../../../../test/support/scripted-server.ts';
import { outputFor } from '../terminal/output.ts';
import type { Bytes } from '../terminal/progress-bar.ts';
import { type CheckOptions, checkAll, runCheck } from './run-check.ts';

const row = '6d92078a-8246-4ba4-ae5b-000000000001,a\n';

let filesFolder = '';
beforeEach(async () => {
  filesFolder = await mkdtemp(join(tmpdir(), 'inlet-check-all-'));
});
afterEach(() => rm(filesFolder, { recursive: true }));

describe('checkAll', () => {
  it('shows a single progress bar that covers all files, never moves backward, and ends at 100 %', async () => {
    const contents = { 'a.csv': row.repeat(50_000), 'b.csv.gz': row.repeat(10), 'c.csv': row.repeat(20_000) };
    const files = Object.keys(contents).map((name) => ({ name, path: join(filesFolder, name) }));
    for (const [name, text] of Object.entries(contents)) await writeFile(join(filesFolder, name), text);
    const shown: Bytes[] = [];
    let ends = 0;
    const bar = { show: (bytes: Bytes) => void shown.push(bytes), end: () => void (ends += 1) };
    const checked = await checkAll([...files, { name: 'gone.csv', path: join(filesFolder, 'gone.csv') }], rules, bar);
    // The second file is not gzip, so it is not read and its bytes count as skipped. The last file does not exist.
    const codes = checked.map(({ fault }) => fault?.code ?? 'good');
    expect(codes).toEqual(['good', 'compression_mismatch', 'good', 'unreadable_file']);
    const total = row.length * 70_010;
    expect(new Set(shown.map((bytes) => bytes.total))).toEqual(new Set([total]));
    const done = shown.map((bytes) => bytes.done);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    expect(shown.at(-1)).toEqual({ what: '2 of 4 files', done: total, total, skipped: row.length * 10 });
    expect(ends).toBe(1);
  });
});

// The test server returns this partner's limits.

const limits = { line_bytes: 1_000, gzip_file_bytes: 100, plain_file_bytes: 50 };
let folder = '';
let server: ScriptedServer;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inlet-run-check-'));
  server = await startScriptedServer((response, { path }) =>
    sendJson(response, path === '/v1/limits' ? 200 : 404, path === '/v1/limits' ? limits : {}),
  );
  vi.stubEnv('INLET_URL', server.url);
  vi.stubEnv('INLET_API_KEY', 'key');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
  await rm(folder, { recursive: true });
});

const check = async (options: Partial<CheckOptions>): Promise<{ value: unknown; stderr: string }> => {
  const path = join(folder, 'members.csv');
  await writeFile(path, '6d92078a-8246-4ba4-ae5b-000000000001,click\n'.repeat(2));
  const [out, stderr] = [fakeTerminal(false), fakeTerminal(false)];
  const output = outputFor({ json: true }, { stdout: out.stream, stderr: stderr.stream }, {});
  await runCheck([path], { badRows: 10, ...options }, output);
  return { value: JSON.parse(out.written()), stderr: stderr.written() };
};

describe('runCheck for audience files', () => {
  it('with --attributes, requests only the limits from the service', async () => {
    const { value, stderr } = await check({ audience: true, attributes: true });
    const files = [{ failure: { code: 'file_too_large' } }];
    expect(value).toMatchObject({ ok: false, keys_checked: null, limits_checked: 'service', files });
    expect(stderr).toBe('');
    expect(server.seen.map(({ path }) => path)).toEqual(['/v1/limits']);
  });

  it('without --attributes, uses the default limits and prints a note', async () => {
    const { value, stderr } = await check({ audience: true });
    expect(value).toMatchObject({ ok: true, limits_checked: 'default' });
    expect(stderr).toMatch(/^Default limits were used\. Pass --attributes /);
    expect(server.seen).toEqual([]);
  });
});

describe('runCheck keys', () => {
  it('rejects --keys combined with --attributes before it sends a request', async () => {
    await expect(check({ attributes: true, keys: 'keys.txt' })).rejects.toThrow(
      '--keys and --attributes cannot be combined.',
    );
    expect(server.seen).toEqual([]);
  });
});
