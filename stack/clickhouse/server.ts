// Runs one ClickHouse server: node server.ts DIRECTORY. libchdb.so contains ClickHouse's local mode, which can open the
// usual HTTP and TCP endpoints. They stay open until its last query ends. Its own session always runs as the user
// "default" without a password. config.ts restricts that user.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
// ffi-rs runs foreign functions on an ordinary thread stack. ClickHouse rejects the stacks that koffi allocates.
import { DataType, load, open } from 'ffi-rs';
import { z } from 'zod';
import { printError, messageOf } from '../output.ts';
import { clickhouseUser, serverConfigFile } from './config.ts';
import { enableReplication, ignoreConnectionErrors } from './patch-engine.ts';

const directory = z.string().parse(process.argv[2]);
const { http, tcp, password, interserver } = z
  .object({
    http: z.int(),
    tcp: z.int(),
    password: z.string(),
    interserver: z.object({ host: z.string(), port: z.int() }).nullable(),
  })
  .parse(JSON.parse(readFileSync(serverConfigFile(directory, 'server.json'), 'utf8')));

writeFileSync(join(directory, 'server.pid'), String(process.pid));
// Local mode cannot reattach its system log tables after a restart and would have no query_log.
rmSync(join(directory, 'data/data/system'), { recursive: true, force: true });

// The last query returns one row per second, which takes almost no CPU time.
const holdOpen = 'inlet-stack-hold-open';
const statements = [
  'SYSTEM START LISTEN HTTP',
  'SYSTEM START LISTEN TCP',
  `SELECT sleepEachRow(1) FROM system.numbers FORMAT Null SETTINGS log_comment = '${holdOpen}', log_queries = 0,
   max_block_size = 1, max_threads = 1, max_execution_time = 0, function_sleep_max_microseconds_per_block = 0`,
];
const commandLine = [
  'clickhouse',
  `--config-file=${serverConfigFile(directory, 'config.xml')}`,
  `--path=${join(directory, 'data')}`,
  `--http_port=${String(http)}`,
  `--tcp_port=${String(tcp)}`,
  '--query',
  statements.join('; '),
];

// When the last query is killed, the engine closes its tables and returns, which is a clean shutdown.
let stopping = false;

async function stop(): Promise<void> {
  stopping = true;
  await fetch(`http://127.0.0.1:${String(http)}/`, {
    method: 'POST',
    headers: { connection: 'close', 'x-clickhouse-user': clickhouseUser, 'x-clickhouse-key': password },
    body: `KILL QUERY WHERE Settings['log_comment'] = '${holdOpen}' ASYNC`,
  });
}

function stopOrExit(): void {
  stop().catch((error: unknown) => {
    printError(`Shutdown failed: ${messageOf(error)}`);
    process.exit(1);
  });
}

process.on('SIGTERM', stopOrExit);
process.on('SIGINT', stopOrExit);
// The engine's thread alone does not keep the Node process alive.
setInterval(() => undefined, 2 ** 30);

const library = createRequire(import.meta.url).resolve('@chdb/lib-linux-x64-gnu/libchdb.so');
open({ library: 'chdb', path: library });
if (!ignoreConnectionErrors(library)) {
  printError(
    'Unknown build of libchdb.so: a TCP reset on the native port will stop this server (ClickHouse issue 115666).',
  );
}
if (interserver) enableReplication(library, interserver);
const result = await load({
  library: 'chdb',
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [commandLine.length, commandLine],
  runInNewThread: true,
});
// The last query never ends by itself, so returning without a stop is an error.
if (!stopping) {
  const call = {
    library: 'chdb',
    funcName: 'chdb_result_error',
    paramsType: [DataType.External],
    paramsValue: [result],
  };
  // Checked as a number first, because reading a string from a null pointer would crash.
  const isText = load({ ...call, retType: DataType.I64 }) !== 0;
  printError(isText ? load({ ...call, retType: DataType.String }) : 'ClickHouse exited; see clickhouse.err.log');
}
process.exit(stopping ? 0 : 1);
