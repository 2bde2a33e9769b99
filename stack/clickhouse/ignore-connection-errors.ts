// Works around ClickHouse issue 115666. In local mode the engine installs Poco's KillingErrorHandler, which terminates
// the process on any exception in a connection thread. One TCP reset on the native port therefore stops a development
// server, whereas clickhouse-server only logs it. The handler's three exception() methods are virtual, so this module
// points their vtable entries at an empty function, in the memory of this process and before the engine starts.
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

// Offsets in libchdb.so from @chdb/lib-linux-x64-gnu 26.7.3-stable.1.
const buildId = Buffer.from('d3d8f5517577ad52775b52318a193784b2fb5317', 'hex');
const buildIdOffset = 0x2b8;
const vtableEntries = { offset: 0x21138ba8, count: 3 };
const terminateOffset = 0xf113480;
const emptyFunction = { offset: 0x9175380, code: Buffer.from([0xc3]) };

/** Call after loading the library and before starting the engine. Returns false for a build with unknown offsets. */
export function ignoreConnectionErrors(library: string): boolean {
  if (!readAt(library, buildIdOffset, buildId.length).equals(buildId)) return false;
  const base = loadAddress(library);
  const memory = '/proc/self/mem';
  const pointers = (target: number): Buffer => {
    const entry = Buffer.alloc(8);
    entry.writeBigUInt64LE(BigInt(base + target));
    return Buffer.concat(Array.from({ length: vtableEntries.count }, () => entry));
  };
  const isExpected = (offset: number, bytes: Buffer): boolean =>
    readAt(memory, base + offset, bytes.length).equals(bytes);
  if (!isExpected(vtableEntries.offset, pointers(terminateOffset))) return false;
  if (!isExpected(emptyFunction.offset, emptyFunction.code)) return false;
  writeAt(memory, base + vtableEntries.offset, pointers(emptyFunction.offset));
  return true;
}

function loadAddress(library: string): number {
  const firstMapping = readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .find((line) => line.endsWith(library) && line.includes(' 00000000 '));
  if (firstMapping === undefined) throw new Error(`${library} is not loaded`);
  return Number.parseInt(firstMapping, 16);
}

function readAt(file: string, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, bytes, 0, length, position);
  } finally {
    closeSync(descriptor);
  }
  return bytes;
}

function writeAt(file: string, position: number, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+');
  try {
    writeSync(descriptor, bytes, 0, bytes.length, position);
  } finally {
    closeSync(descriptor);
  }
}
