import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

/** Prints the packages that a module loads. */
const script = (module: string): string => `
  import { registerHooks } from 'node:module';
  const packages = new Set();
  registerHooks({
    load: (url, context, next) => {
      const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
      if (name) packages.add(name);
      return next(url, context);
    },
  });
  await import('./src/entry/${module}');
  process.stdout.write(JSON.stringify([...packages]));
`;

const load = async (module: string): Promise<string> =>
  (await run(process.execPath, ['--input-type=module', '--eval', script(module)])).stdout;

it('loads no HTTP server in a worker', { timeout: 60_000 }, async () => {
  expect(await load('wire-worker.ts')).not.toContain('"fastify"');
  expect(await load('../adapters/http/server.ts')).toContain('"fastify"');
});

it('loads no package for metrics or traces unless they are enabled', { timeout: 60_000 }, async () => {
  const packages = await load('wire-worker.ts');
  expect(packages).toContain('@clickhouse/client');
  expect(packages).not.toContain('opentelemetry');
  expect(packages).not.toContain('prometheus');
  expect(await load('observability/spans.ts')).toContain('@opentelemetry/sdk-trace');
});
