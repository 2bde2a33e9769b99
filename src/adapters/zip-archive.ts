import { type FileHandle, open } from 'node:fs/promises';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';

// Reads ZIP archives (APPNOTE 6.3) without encryption and without ZIP64, which only archives of 4 GB and more need.

export type ZipEntry = {
  readonly name: string;
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly isDeflated: boolean;
  readonly crc: number;
  readonly offset: number;
};

/** The archive is not a ZIP file that can be read. */
export class ZipError extends Error {}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localSignature = 0x04034b50;
const endBytes = 22;
const entryBytes = 46;
const localBytes = 30;
const maxCommentBytes = 65_535;
const maxEntries = 100;
const zip64 = 0xffff_ffff;
const encryptedFlag = 1;

export async function readZipEntries(path: string): Promise<readonly ZipEntry[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const tail = await readAt(file, Math.max(0, size - endBytes - maxCommentBytes), endBytes + maxCommentBytes);
    const end = findEnd(tail);
    const [count, bytes, start] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)];
    if (count > maxEntries || start === zip64) throw new ZipError('has too many files or is too large');
    const directory = await readAt(file, start, bytes);
    const entries: ZipEntry[] = [];
    for (let at = 0; entries.length < count;) {
      const entry = readEntry(directory, at);
      entries.push(entry.entry);
      at = entry.end;
    }
    return entries;
  } finally {
    await file.close();
  }
}

function findEnd(tail: Buffer): Buffer {
  for (let at = tail.length - endBytes; at >= 0; at -= 1)
    if (tail.readUInt32LE(at) === endSignature && at + endBytes + tail.readUInt16LE(at + 20) === tail.length)
      return tail.subarray(at);
  throw new ZipError('is not a complete ZIP file');
}

function readEntry(directory: Buffer, at: number): { readonly entry: ZipEntry; readonly end: number } {
  if (at + entryBytes > directory.length || directory.readUInt32LE(at) !== entrySignature)
    throw new ZipError('has a damaged list of files');
  const method = directory.readUInt16LE(at + 10);
  const nameBytes = directory.readUInt16LE(at + 28);
  const end = at + entryBytes + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  const entry = {
    name: directory.subarray(at + entryBytes, at + entryBytes + nameBytes).toString(),
    crc: directory.readUInt32LE(at + 16),
    compressedBytes: directory.readUInt32LE(at + 20),
    bytes: directory.readUInt32LE(at + 24),
    offset: directory.readUInt32LE(at + 42),
    isDeflated: method === 8,
  };
  if ((directory.readUInt16LE(at + 8) & encryptedFlag) !== 0) throw new ZipError('is encrypted');
  if (method !== 0 && method !== 8) throw new ZipError('uses an unknown compression method');
  if ([entry.bytes, entry.compressedBytes, entry.offset].includes(zip64)) throw new ZipError('is too large');
  return { entry, end };
}

/** Streams the content of a file. The stream fails if the content does not have the recorded size and checksum. */
export async function openZipEntry(path: string, entry: ZipEntry): Promise<Readable> {
  const file = await open(path);
  try {
    const local = await readAt(file, entry.offset, localBytes);
    if (local.length < localBytes || local.readUInt32LE(0) !== localSignature) throw new ZipError('is damaged');
    const start = entry.offset + localBytes + local.readUInt16LE(26) + local.readUInt16LE(28);
    const checked = checkContent(entry);
    if (entry.compressedBytes === 0) {
      await file.close();
      checked.end();
      return checked;
    }
    const stored = file.createReadStream({ start, end: start + entry.compressedBytes - 1 });
    const done = entry.isDeflated ? pipeline(stored, createInflateRaw(), checked) : pipeline(stored, checked);
    // An error also destroys the last stream, which the caller reads.
    done.catch(() => undefined);
    return checked;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function checkContent({ bytes, crc }: ZipEntry): Transform {
  let [size, sum] = [0, 0];
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      sum = crc32(chunk, sum);
      if (size > bytes) done(new ZipError('has a file that is larger than recorded'));
      else done(null, chunk);
    },
    flush(done) {
      done(size === bytes && sum === crc ? null : new ZipError('has a damaged file'));
    },
  });
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
