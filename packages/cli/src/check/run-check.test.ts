import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { paperTerminal } from '../../../../test/support/paper-terminal.ts';
import { sendJson, startScriptedServer, type ScriptedServer } from '../../../../test/support/scripted-server.ts';
import { outputFor } from '../terminal/output.ts';
import { runCheck, type CheckOptions } from './run-check.ts';

// With limits that the service has for this partner, answered by the test.

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

const check = async (options: Partial<CheckOptions>): Promise<{ value: unknown; said: string }> => {
  const path = join(folder, 'members.csv');
  await writeFile(path, '6d92078a-8246-4ba4-ae5b-000000000001,click\n'.repeat(2));
  const [out, said] = [paperTerminal(false), paperTerminal(false)];
  const output = outputFor({ json: true }, { stdout: out.stream, stderr: said.stream }, {});
  await runCheck([path], { badRows: 10, ...options }, output);
  return { value: JSON.parse(out.written()), said: said.written() };
};

describe('files of an audience', () => {
  it('are held to the limits of the service with --attributes, which asks for nothing else', async () => {
    const { value, said } = await check({ audience: true, attributes: true });
    const files = [{ failure: { code: 'file_too_large' } }];
    expect(value).toMatchObject({ ok: false, keys_checked: null, limits_checked: 'service', files });
    expect(said).toBe('');
    expect(server.seen.map(({ path }) => path)).toEqual(['/v1/limits']);
  });

  it('are held to the default limits else, and the note says so', async () => {
    const { value, said } = await check({ audience: true });
    expect(value).toMatchObject({ ok: true, limits_checked: 'default' });
    expect(said).toMatch(/^The limits are the default ones: --attributes /);
    expect(server.seen).toEqual([]);
  });
});

describe('keys', () => {
  it('come from one place, which is told before anybody is asked', async () => {
    await expect(check({ attributes: true, keys: 'keys.txt' })).rejects.toThrow('Keys come from one place.');
    expect(server.seen).toEqual([]);
  });
});
