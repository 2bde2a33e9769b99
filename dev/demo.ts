import { importLogSchema, queuedSchema, type ImportLogRecord } from '../src/adapters/http/records/import-log.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { printError, messageOf, printLine, secondsSince } from '../stack/output.ts';
import { requireDemoSession, type DemoSession } from './demo-session.ts';

// Queues an import over HTTP, follows it to completion and prints the record. Requires a running `npm run dev`.

let lastShown = '';
const statusNames = ['pending', 'importing', 'done', 'error'] as const;

try {
  const session = await requireDemoSession();
  await demo(session);
} catch (error) {
  printError(messageOf(error));
  process.exitCode = 1;
}

async function demo(session: DemoSession): Promise<void> {
  const body = { file_path: 'delivery/', key_type: 1, compressed: true };
  printLine(`POST /v1/marketplace/import ${JSON.stringify(body)}`);
  const start = performance.now();
  const { import_log_id } = queuedSchema.parse(await call(session, '/v1/marketplace/import', body));
  printLine(`Queued as import log ${import_log_id}`);
  let record: ImportLogRecord;
  do {
    await pause(250);
    record = importLogSchema.parse(await call(session, `/v1/marketplace/import/${import_log_id}`));
    showProgress(
      `${statusNames[record.status].padEnd(9)} ${record.total_rows.padStart(9)} rows  ${secondsSince(start)}`,
    );
  } while (record.status < 2);
  printLine(`\n${JSON.stringify(record, null, 2)}`);
  if (record.status !== 2) process.exitCode = 1;
}

async function call(session: DemoSession, path: string, body?: object): Promise<unknown> {
  const response = await fetch(session.url + path, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${session.apiKey}`, 'content-type': 'application/json' },
  }).catch(() => {
    throw new Error(`No response from ${session.url}. Is "npm run dev" running?`);
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Updates a single line on a terminal. Otherwise prints one line per change. */
function showProgress(line: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${line}`);
  else if (line.slice(0, 25) !== lastShown) printLine(line);
  lastShown = line.slice(0, 25);
}
