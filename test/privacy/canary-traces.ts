import { createHash } from 'node:crypto';
import { type Dirent, closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { readAddresses } from '../../stack/addresses.ts';
import { commandOnShards, everyServer, selectOnShards } from '../support/shard-tables.ts';
import { tablesThatHold } from '../support/search-stores.ts';
import type { TestStores } from '../support/stores.ts';

// Finds every trace of a device ID, in the tables and in the bytes of all files on every server. A compressed part can
// hide an ID from the search in files, so tables are also queried.

const reversed = (bytes: Buffer): Buffer => Buffer.from(bytes.toReversed());

/** The forms in which a server or a log can contain the ID. */
function formsOf(id: string): ReadonlyMap<string, Buffer> {
  const digits = id.replaceAll('-', '');
  const bytes = Buffer.from(digits, 'hex');
  // ClickHouse stores the two halves of a UUID as little-endian numbers.
  const engine = Buffer.concat([reversed(bytes.subarray(0, 8)), reversed(bytes.subarray(8))]);
  const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
  return new Map<string, Buffer>([
    ['text', Buffer.from(id)],
    ['text in uppercase', Buffer.from(id.toUpperCase())],
    ['digits', Buffer.from(digits)],
    ['digits in uppercase', Buffer.from(digits.toUpperCase())],
    ['bytes', bytes],
    ['bytes as ClickHouse stores them', engine],
    ['bytes in reverse', reversed(bytes)],
    ['SHA-256', sha256(id)],
    ['SHA-256 in hexadecimal', Buffer.from(sha256(id).toString('hex'))],
    ['SHA-256 of the digits in Base64', Buffer.from(sha256(digits).toString('base64'))],
  ]);
}

/** The storage contains the partner's own files, which an erasure does not change. */
const searchedFolders = /^(?:clickhouse-\d|zookeeper-\d|postgres|test-logs)$/;

/** Returns one line for each file and each form of the ID that it contains. */
export function filesThatHold(id: string): string[] {
  const { directory } = readAddresses();
  const forms = [...formsOf(id)];
  const folders = readdirSync(directory).filter((name) => searchedFolders.test(name));
  return folders.flatMap((folder) =>
    filesIn(join(directory, folder)).flatMap((path) =>
      formsIn(path, forms).map((form) => `${path.slice(directory.length + 1)}: ${form}`),
    ),
  );
}

/** Files and folders can disappear during the search, because the servers are running. */
function filesIn(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : entry.isFile() ? [path] : [];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

const chunkBytes = 4 * 1024 * 1024;
const buffer = Buffer.alloc(chunkBytes);

function formsIn(path: string, forms: readonly (readonly [string, Buffer])[]): string[] {
  const longest = Math.max(...forms.map(([, bytes]) => bytes.length));
  const found = new Set<string>();
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  for (let offset = 0; ; offset += chunkBytes - longest) {
    const size = readSync(file, buffer, 0, chunkBytes, offset);
    const read = buffer.subarray(0, size);
    for (const [form, bytes] of forms) if (read.includes(bytes)) found.add(form);
    if (size < chunkBytes) break;
  }
  closeSync(file);
  return [...found];
}

/** Returns all tables that contain the ID, in the stores and in the engine's own database. */
export async function tablesThatHoldDevice(stores: TestStores, id: string): Promise<string[]> {
  const inPostgres = new Set<string>();
  for (const [form, bytes] of formsOf(id))
    if (!form.includes('bytes') && form !== 'SHA-256')
      for (const table of await tablesThatHold(stores, bytes.toString())) inPostgres.add(`postgres ${table}`);
  const servers = everyServer(stores);
  await commandOnShards(servers, 'SYSTEM FLUSH LOGS');
  const columns = await selectOnShards(
    servers,
    `SELECT DISTINCT database, table, name, type FROM system.columns
     WHERE (database = currentDatabase() OR (database = 'system' AND table LIKE '%\\_log')) AND table NOT LIKE '.inner%'
       AND (type = 'UUID' OR type LIKE '%String%') AND (database, table) IN (
         SELECT database, name FROM system.tables WHERE engine LIKE '%MergeTree' OR database = 'system')`,
  );
  const inEngine = new Set<string>();
  const ofTables = Map.groupBy(
    columns.map((line) => line.split('\t')),
    ([database, table]) => `${database}.${table}`,
  );
  for (const [table, described] of ofTables) {
    const conditions = described.map(([, , column = '', type]) =>
      type === 'UUID' ? `${column} = ${uuidSql(id)}` : textSql(column, id),
    );
    // A table can be dropped between the two queries.
    const query = `SELECT count() FROM ${table} WHERE ${conditions.join(' OR ')} HAVING count() > 0`;
    const found = await selectOnShards(servers, query).catch(() => []);
    if (found.length > 0) inEngine.add(`clickhouse ${table.replace(`${stores.database}.`, '')}`);
  }
  return [...inPostgres, ...inEngine].toSorted();
}

/** The query log will also contain this statement, so the ID must not appear in it. */
function hidden(text: string): string {
  return `concat('${text.slice(0, 7)}', '${text.slice(7)}')`;
}

export function uuidSql(id: string): string {
  return `toUUID(${hidden(id)})`;
}

function textSql(column: string, id: string): string {
  const texts = [id, id.replaceAll('-', ''), createHash('sha256').update(id).digest('hex')];
  return texts.map((text) => `positionCaseInsensitive(toString(${column}), ${hidden(text)}) > 0`).join(' OR ');
}
