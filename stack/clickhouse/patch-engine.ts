// Adapts ClickHouse's local mode, which is part of libchdb.so, to the needs of a server. The engine's own code does the
// work. This module changes a few function entries and pointers in the memory of this process, before the engine
// starts. The offsets belong to one build, so the module checks the build ID and the bytes at every offset first. It is
// for development and tests only: in production, Inlet runs with clickhouse-server.
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

// Offsets in libchdb.so from @chdb/lib-linux-x64-gnu 26.7.3-stable.1.
const buildId = Buffer.from('d3d8f5517577ad52775b52318a193784b2fb5317', 'hex');
const buildIdOffset = 0x2b8;

const vtableEntries = { offset: 0x21138ba8, count: 3 };
const terminateOffset = 0xf113480;
const emptyFunction = { offset: 0x9175380, code: hex('c3') };

/** The first bytes of each function. */
const functions = {
  /** `std::pair<String, UInt16> Context::getInterserverIOAddress() const` */
  getAddress: { offset: 0x1417c9c0, code: hex('41565348 83ec484c 8b36490f be8e6701') },
  /** `String Context::getInterserverScheme() const` */
  getScheme: { offset: 0x1417cac0, code: hex('488b0680 b8870100 0000781a 48057001') },
  /** `InterserverCredentialsPtr Context::getInterserverCredentials() const` */
  getCredentials: { offset: 0x1417c940, code: hex('41574156 534c8b3f 498d9f88 01000048') },
  /** Creates the handler of an HTTP rule of type "acme". */
  createAcmeHandler: { offset: 0x183aa980, code: hex('50bf0800 0000e875 14b4f648 8d0d66ba') },
  /** Creates the handler of requests from other replicas. */
  createInterserverHandler: { offset: 0x183b3200, code: hex('41565350 4c8b37bf 30000000 e8ef8bb3') },
};

/**
 * Works around ClickHouse issue 115666. In local mode, the engine installs Poco's KillingErrorHandler, which terminates the
 * process on any exception in a connection thread, such as a TCP reset. clickhouse-server only logs it. The handler's
 * three exception() methods are virtual, so their vtable entries are pointed at an empty function. Returns false for
 * a build with unknown offsets.
 */
export function ignoreConnectionErrors(library: string): boolean {
  const memory = openMemory(library);
  if (!memory) return false;
  const pointers = (target: number): Buffer =>
    Buffer.concat(Array.from({ length: vtableEntries.count }, () => pointer(memory.base + target)));
  if (!memory.read(vtableEntries.offset, 8 * vtableEntries.count).equals(pointers(terminateOffset))) return false;
  if (!memory.has(emptyFunction)) return false;
  memory.write(vtableEntries.offset, pointers(emptyFunction.offset));
  return true;
}

/**
 * Lets replicas fetch parts from this server. Local mode contains replication, but only the server program configures the
 * address of a replica and opens the endpoint for other replicas. Three getters are made to return constants, and HTTP rules of
 * type "acme" get the engine's handler for requests from replicas. Fails for a build with unknown offsets.
 */
export function enableReplication(library: string, { host, port }: { host: string; port: number }): void {
  const memory = openMemory(library);
  if (!memory || !Object.values(functions).every((one) => memory.has(one))) {
    throw new Error('Unknown build of libchdb.so: replication works only with the build that package-lock.json names.');
  }
  // The constants are stored in the rest of the first function.
  const room = functions.getAddress.offset;
  const constants = { address: room + 0x30, scheme: room + 0x50, credentials: room + 0x68, current: room + 0xb0 };
  const address = Buffer.concat([shortString(host), Buffer.alloc(8)]);
  address.writeUInt16LE(port, 24);
  const { base } = memory;
  const credentials = Buffer.concat([
    shortString(''),
    shortString(''),
    pointer(base + constants.current),
    pointer(base + constants.current + 48),
    pointer(base + constants.current + 48),
  ]);
  memory.write(room, returnCopy(base + constants.address, 32));
  memory.write(constants.address, address);
  memory.write(constants.scheme, shortString('http'));
  memory.write(constants.credentials, Buffer.concat([credentials, Buffer.alloc(48)]));
  memory.write(functions.getScheme.offset, returnCopy(base + constants.scheme, 24));
  // mov rax, credentials; xor edx, edx; ret
  memory.write(
    functions.getCredentials.offset,
    Buffer.concat([hex('48b8'), pointer(base + constants.credentials), hex('31d2 c3')]),
  );
  const jump = Buffer.from([0xe9, 0, 0, 0, 0]);
  jump.writeInt32LE(functions.createInterserverHandler.offset - functions.createAcmeHandler.offset - jump.length, 1);
  memory.write(functions.createAcmeHandler.offset, jump);
}

/** Machine code: mov rax, data; copy the bytes from there to the result (rdi); mov rax, rdi; ret. */
function returnCopy(data: number, bytes: 24 | 32): Buffer {
  const copy24 = '488b08 48890f 488b4808 48894f08 488b4810 48894f10';
  const copy = bytes === 24 ? copy24 : `${copy24} 488b4818 48894f18`;
  return Buffer.concat([hex('48b8'), pointer(data), hex(`${copy} 4889f8 c3`)]);
}

/** A short string of libc++: the characters in place, and the length in the last of 24 bytes. */
function shortString(text: string): Buffer {
  const bytes = Buffer.alloc(24);
  if (bytes.write(text) > 22) throw new Error(`"${text}" is too long`);
  bytes[23] = text.length;
  return bytes;
}

function pointer(address: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(address));
  return bytes;
}

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex');
}

type Memory = {
  /** The address at which the library is loaded. Offsets are relative to it. */
  readonly base: number;
  readonly read: (offset: number, length: number) => Buffer;
  readonly has: (expected: { readonly offset: number; readonly code: Buffer }) => boolean;
  readonly write: (offset: number, bytes: Buffer) => void;
};

/** Returns null for a build with unknown offsets. */
function openMemory(library: string): Memory | null {
  if (!readAt(library, buildIdOffset, buildId.length).equals(buildId)) return null;
  const base = loadAddress(library);
  const file = '/proc/self/mem';
  const read: Memory['read'] = (offset, length) => readAt(file, base + offset, length);
  return {
    base,
    read,
    has: ({ offset, code }) => read(offset, code.length).equals(code),
    write: (offset, bytes) => writeAt(file, base + offset, bytes),
  };
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
