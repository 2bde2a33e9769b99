import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type ServerResponse, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { isOurs, parseLockFile, productionPackages } from '../../scripts/packages/lock-file.ts';
import { pathInRepository } from './tree-copy.ts';

// These tests run the real npm against a registry server in the test process.

type Ran = { readonly code: number | null; readonly output: string };
type Answer = (response: ServerResponse) => void;
/** Installed versions by package. */
const bulkSchema = z.record(z.string(), z.array(z.string()));
const close: (() => void)[] = [];

/** Serves a registry's audit endpoints but no packages. */
async function startRegistry(answer: Answer): Promise<{ url: string; queried: Set<string> }> {
  const queried = new Set<string>();
  const server = createServer((request, response) => {
    void buffer(request).then((sent) => {
      if (request.method !== 'POST') return response.writeHead(404).end('{}');
      // npm 10 also tries an older endpoint after a rejection.
      if (request.url?.endsWith('/bulk') !== true) return answer(response);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      for (const name of Object.keys(bulkSchema.parse(JSON.parse(body.toString())))) queried.add(name);
      return answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  close.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, queried };
}

const answerFlaw =
  (severity: string | null): Answer =>
  (response) => {
    const flaw = { id: 1, url: 'https://advisories.example/1', title: 'Planted', severity, vulnerable_versions: '*' };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(severity === null ? {} : { commander: [{ ...flaw, cwe: [], cvss: { score: 0 } }] }));
  };
const answerStatus =
  (status: number): Answer =>
  (response) =>
    void response.writeHead(status).end();

function audit(registry: string, ...more: string[]): Promise<Ran> {
  const cache = mkdtempSync(join(tmpdir(), 'inlet-audit-'));
  close.push(() => rmSync(cache, { recursive: true, force: true }));
  const parameters = [
    'scripts/audit.ts',
    '--registry',
    registry,
    '--cache',
    cache,
    '--noproxy=127.0.0.1',
    '--fetch-retries=0',
    ...more,
  ];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, parameters, { cwd: pathInRepository('.') }, (_error, out, errors) =>
      resolve({ code: child.exitCode, output: out + errors }),
    );
  });
}

/** Returns the exit code of an audit and checks that its output contains these words. */
function codeOf({ code, output }: Ran, words: string): number | null {
  expect(output).toContain(words);
  return code;
}

/** npm takes seconds for each audit, and the unit tests of `read-audit.ts` cover the severities too. */
const inLongRun = inject('campaign') === 'long';

describe('the dependency audit', () => {
  afterEach(() => {
    for (const end of close.splice(0)) end();
  });

  it('queries every package of a deployed service and passes if no vulnerability is known', async () => {
    const { url, queried } = await startRegistry(answerFlaw(null));
    expect(await audit(url)).toEqual({ code: 0, output: 'audit: 0 packages with known vulnerabilities\n' });
    const packages = parseLockFile(readFileSync(pathInRepository('package-lock.json'), 'utf8'));
    const others = productionPackages(packages).filter((one) => !isOurs(one));
    expect(others.map(({ name }) => name).filter((name) => !queried.has(name))).toEqual([]);
    expect(queried).not.toContain('vitest');
  });

  it.each(inLongRun ? ['high', 'critical'] : ['high'])(
    'fails if it finds a vulnerability with the severity %s',
    async (severity) => {
      const { url } = await startRegistry(answerFlaw(severity));
      const ran = await audit(url);
      expect(codeOf(ran, `${severity}: commander`)).toBe(1);
      expect(codeOf(ran, 'Planted (https://advisories.example/1)')).toBe(1);
    },
  );

  it.runIf(inLongRun)('queries the registry even if npm is configured to be offline', async () => {
    const { url } = await startRegistry(answerFlaw('high'));
    expect(codeOf(await audit(url, '--offline'), 'high: commander')).toBe(1);
  });

  it.runIf(inLongRun)('reports a moderate vulnerability and passes', async () => {
    const { url } = await startRegistry(answerFlaw('moderate'));
    expect(codeOf(await audit(url), 'moderate: commander')).toBe(0);
  });

  it.runIf(inLongRun)('passes with a note if the registry has no audit endpoint', async () => {
    const { url } = await startRegistry(answerStatus(405));
    expect(codeOf(await audit(url), 'does not support audits')).toBe(0);
  });

  it.runIf(inLongRun)('fails when the registry fails or is unavailable', async () => {
    const { url } = await startRegistry(answerStatus(500));
    expect(codeOf(await audit(url), '500')).toBe(1);
    expect(codeOf(await audit('http://127.0.0.1:1'), 'ECONNREFUSED')).toBe(1);
  });
});
