import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { configSchema } from '../src/entry/config.ts';
import { createLogger } from '../src/entry/logging.ts';
import { migrate } from '../src/entry/migrate.ts';
import { keepOrPickPort } from '../stack/ports.ts';
import { processArguments } from '../stack/process-arguments.ts';
import { printError, messageOf, printLine, secondsSince } from '../stack/output.ts';
import { writeDemoSession, type DemoSession } from './demo-session.ts';
import { devEnvironment } from './environment.ts';
import { provisionDemo } from './provision-demo.ts';

// Starts everything that a fresh clone needs: servers, schema, demo partner, sample files, API, and worker.

const start = performance.now();
const children: ChildProcess[] = [];

try {
  await main();
} catch (error) {
  printError(messageOf(error));
  stopChildren();
  process.exitCode = 1;
}

async function main(): Promise<void> {
  if (spawnSync(process.execPath, ['stack/cli/up.ts'], { stdio: 'inherit' }).status !== 0) {
    throw new Error(
      'The servers did not start; see the messages above. If packages are missing, run "npm run stack:install".',
    );
  }
  const port = await keepOrPickPort(8080, []);
  const url = `http://127.0.0.1:${port}`;
  const environment = devEnvironment(port);
  const config = configSchema.parse(environment);
  await createDatabase(environment);
  await migrate(config, createLogger({ name: 'inlet-migrate', level: 'warn' }));
  const session = { ...(await provisionDemo(config)), url };
  mkdirSync('.dev', { recursive: true });
  startProcess('api', environment);
  startProcess('worker', environment);
  process.on('SIGINT', stopChildren);
  process.on('SIGTERM', stopChildren);
  await waitUntilReady(`${url}/health/ready`);
  await writeDemoSession(session);
  printReady(session);
  await Promise.all([...children].map((child) => once(child, 'exit')));
}

async function createDatabase(environment: Readonly<Record<string, string>>): Promise<void> {
  const url = new URL(environment['INLET_POSTGRES_URL'] ?? '');
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (rowCount === 0) await client.query(`CREATE DATABASE ${name}`);
  await client.end();
}

function startProcess(entry: 'api' | 'worker', environment: Readonly<Record<string, string>>): void {
  const output = openSync(`.dev/${entry}.log`, 'w');
  const child = spawn(process.execPath, processArguments(entry), {
    env: { ...environment },
    stdio: ['ignore', output, output],
    detached: true, // Ctrl-C signals only this process, which then stops each child once.
  });
  closeSync(output);
  child.on('exit', (code) => {
    if (code !== 0) printError(`The ${entry} exited with code ${code}; see .dev/${entry}.log`);
    stopChildren();
  });
  children.push(child);
}

function stopChildren(): void {
  for (const child of children.splice(0)) child.kill('SIGTERM');
}

async function waitUntilReady(url: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    await pause(100);
  }
  throw new Error(`${url} did not respond in time`);
}

function printReady({ url, apiKey }: DemoSession): void {
  const authorization = `-H 'Authorization: Bearer ${apiKey}'`;
  printLine(`
Inlet is ready at ${url} after ${secondsSince(start)}. In another terminal, run:

  npm run demo

or send requests yourself:

  # Queue an import of all files under delivery/ in the demo partner's prefix
  curl -s ${url}/v1/marketplace/import ${authorization} \\
    -H 'Content-Type: application/json' -d '{"file_path": "delivery/", "key_type": 1, "compressed": true}'

  # Import a file with invalid rows; its record lists them with the reasons
  curl -s ${url}/v1/marketplace/import ${authorization} \\
    -H 'Content-Type: application/json' -d '{"file_path": "with-bad-rows.csv", "key_type": 1}'

  # List the imports
  curl -s ${url}/v1/marketplace/import ${authorization}

  # Create an audience from two files of 1,000 devices each, half of them in both, and read it
  curl -s ${url}/v2/firstparty/audience ${authorization} \\
    -H 'Content-Type: application/json' -d '{"name": "Summer", "file_path": "acme/summer/"}'
  curl -s ${url}/v2/firstparty/audience/1 ${authorization}

Logs: .dev/api.log and .dev/worker.log. Ctrl-C stops the api and the worker;
"npm run stack:down" stops the servers.
`);
}
