import { open, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { fail, type Failure } from '../result.ts';

/**
 * A file to upload. It is either a local path, whose base name becomes the name, or a name with a local path or
 * content.
 */
export type UploadFile =
  | string
  | { readonly name: string; readonly path: string }
  | { readonly name: string; readonly body: UploadBody };
export type UploadBody = Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

export type NamedSource = {
  readonly name: string;
  /** Null for a stream. */
  readonly size: number | null;
  /** Null for data in memory and for streams. */
  readonly file: LocalFile | null;
  readonly open: () => Promise<Reading>;
};

/** The state of a local file when the upload began. */
export type LocalFile = { readonly path: string; readonly size: number; readonly mtimeMs: number };

export type Read = (size: number) => Promise<Uint8Array<ArrayBuffer>>;

/** `read` returns `size` bytes, or fewer at the end. */
export type Reading = {
  readonly read: Read;
  /** Returns false if the content has changed since the upload began. */
  readonly isUnchanged: () => Promise<boolean>;
  readonly close: () => Promise<void>;
};

export async function sourceOf(file: UploadFile): Promise<NamedSource> {
  if (typeof file === 'string') return sourceAt(file, basename(file));
  if ('path' in file) return sourceAt(file.path, file.name);
  const { name, body } = file;
  const inMemory = { name, file: null };
  if (body instanceof Blob) return { ...inMemory, size: body.size, open: async () => readBlob(body) };
  if (body instanceof Uint8Array) return { ...inMemory, size: body.byteLength, open: async () => readBytes(body) };
  return { ...inMemory, size: null, open: async () => readChunks(chunksOf(body)) };
}

async function sourceAt(path: string, name: string): Promise<NamedSource> {
  const { size, mtimeMs } = await stat(path);
  const file = { path: resolve(path), size, mtimeMs };
  return { name, size, file, open: () => readPath(file) };
}

async function readPath(file: LocalFile): Promise<Reading> {
  const handle = await open(file.path);
  return {
    isUnchanged: async () => {
      const { size, mtimeMs } = await handle.stat();
      return size === file.size && mtimeMs === file.mtimeMs;
    },
    read: async (size) => {
      const bytes = new Uint8Array(size);
      let length = 0;
      while (length < size) {
        const { bytesRead } = await handle.read(bytes, length, size - length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return bytes.subarray(0, length);
    },
    close: () => handle.close(),
  };
}

/** Data in memory cannot change, and a stream is read only once. */
const isUnchanged = (): Promise<boolean> => Promise.resolve(true);

function readBlob(blob: Blob): Reading {
  let position = 0;
  return {
    isUnchanged,
    read: async (size) => {
      const slice = blob.slice(position, position + size);
      position += slice.size;
      return new Uint8Array(await slice.arrayBuffer());
    },
    close: async () => {},
  };
}

function readBytes(bytes: Uint8Array): Reading {
  let position = 0;
  return {
    isUnchanged,
    read: async (size) => {
      const slice = bytes.slice(position, position + size);
      position += slice.byteLength;
      return slice;
    },
    close: async () => {},
  };
}

type Chunks = {
  readonly next: () => Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  readonly end: () => Promise<unknown>;
};

function readChunks(chunks: Chunks): Reading {
  let left = new Uint8Array(0);
  return {
    isUnchanged,
    read: async (size) => {
      const bytes = new Uint8Array(size);
      let length = 0;
      while (length < size) {
        if (left.byteLength === 0) {
          const { done, value } = await chunks.next();
          if (done) break;
          // A text stream would be read as empty.
          if (!(value instanceof Uint8Array)) throw new TypeError('the stream contains values that are not bytes');
          left = new Uint8Array(value);
        }
        const taken = left.subarray(0, size - length);
        bytes.set(taken, length);
        length += taken.byteLength;
        left = left.subarray(taken.byteLength);
      }
      return bytes.subarray(0, length);
    },
    close: async () => {
      // The call is not awaited, because a stalled iterator would block an abort.
      void chunks.end().catch(() => {});
    },
  };
}

function chunksOf(body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): Chunks {
  if ('getReader' in body) {
    const reader = body.getReader();
    return { next: () => reader.read(), end: () => reader.cancel() };
  }
  const iterator = body[Symbol.asyncIterator]();
  return { next: () => iterator.next(), end: async () => iterator.return?.() };
}

/** Returns an empty part on abort, because a stream may never deliver the next part. */
export function readPart(signal: AbortSignal, read: Read, size: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolvePart, reject) => {
    const stop = (): void => resolvePart(new Uint8Array(0));
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    read(size)
      .then(resolvePart, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}

export function changed(path: string): Failure {
  return fail('unreadable_file', `${path}: the file changed during the upload.`);
}
