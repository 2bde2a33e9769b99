import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { type Config, configSchema } from '../src/entry/config.ts';
import { createLogger } from '../src/entry/logging.ts';
import { migrate } from '../src/entry/migrate.ts';
import { connectSharedStorage } from '../src/entry/shared-bucket.ts';
import { keepOrPickPort } from '../stack/ports.ts';
import { processArguments } from '../stack/process-arguments.ts';
import { printError, messageOf, printLine, secondsSince } from '../stack/output.ts';
import { demoAccounts } from './demo-accounts.ts';
import { startDemoProvider } from './demo-provider.ts';
import { writeDemoSession, type DemoSession } from './demo-session.ts';
import { devEnvironment } from './environment.ts';
import { provisionDemo } from './provision-demo.ts';
import { environmentFile, issuedFile, writeEnvironment, writeIssued } from './session-files.ts';

// Starts everything that a fresh clone needs: servers, schema, demo partner, sample files, API, worker, and an OpenID
// provider with demo accounts for the console.

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
  buildConsole();
  const provider = await startDemoProvider({
    port: await keepOrPickPort(8090, [port]),
    consoleUrl: url,
    clientSecret: randomBytes(32).toString('base64url'),
  });
  const environment = devEnvironment(port, provider.settings);
  const config = configSchema.parse(environment);
  await createDatabase(environment);
  await createBucket(config);
  await migrate(config, createLogger({ name: 'inlet-migrate', level: 'warn' }));
  const session = { ...(await provisionDemo(config)), url };
  provider.setAccounts(demoAccounts(session.partner));
  mkdirSync('.dev', { recursive: true });
  startProcess('api', environment);
  startProcess('worker', environment);
  process.on('SIGINT', stopChildren);
  process.on('SIGTERM', stopChildren);
  await waitUntilReady(`${url}/health/ready`);
  await writeDemoSession(session);
  await writeIssued(session, { endpoint: config.INLET_S3_ENDPOINT ?? null, region: config.INLET_S3_REGION });
  await writeEnvironment(environment);
  printReady(session);
  await Promise.all([...children].map((child) => once(child, 'exit')));
  await provider.close();
}

/** The api reads the built console when it starts. Building it takes less than a second. */
function buildConsole(): void {
  if (spawnSync('npm', ['run', '--silent', 'console:build'], { stdio: 'inherit' }).status !== 0)
    throw new Error('The console was not built; see the messages above.');
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

/** Migrations record the bucket and set its rules. Creating it again does nothing. */
async function createBucket(config: Config): Promise<void> {
  const s3 = connectSharedStorage(config);
  await s3.send(new CreateBucketCommand({ Bucket: config.INLET_S3_BUCKET }));
  s3.destroy();
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

or open the console at ${url}/console/ and choose an account: an operator, a user of the partner, or a customer.

To use the command line as the demo partner (PATH needs bin/ of this clone):

  export PATH="$PWD/bin:$PATH"
  inlet login --profile dev --from ${issuedFile}
  inlet attributes

To run operator commands:

  set -a; source ${environmentFile}; set +a
  inlet doctor

To send requests yourself:

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
