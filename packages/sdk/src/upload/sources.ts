import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';

/** What is uploaded: a local path (its last part becomes the name), or a name and its content. */
export type UploadFile = string | { readonly name: string; readonly body: UploadBody };
export type UploadBody = Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

export type NamedSource = {
  readonly name: string;
  /** Null of a stream. */
  readonly size: number | null;
  readonly open: () => Promise<Reading>;
};

/** `read` gives `size` bytes; fewer at the end. */
type Reading = {
  readonly read: (size: number) => Promise<Uint8Array<ArrayBuffer>>;
  readonly close: () => Promise<void>;
};

export async function sourceOf(file: UploadFile): Promise<NamedSource> {
  if (typeof file === 'string') {
    const { size } = await stat(file);
    return { name: basename(file), size, open: () => readPath(file) };
  }
  const { name, body } = file;
  if (body instanceof Blob) return { name, size: body.size, open: async () => readBlob(body) };
  if (body instanceof Uint8Array) return { name, size: body.byteLength, open: async () => readBytes(body) };
  return { name, size: null, open: async () => readChunks(chunksOf(body)) };
}

async function readPath(path: string): Promise<Reading> {
  const handle = await open(path);
  return {
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

function readBlob(blob: Blob): Reading {
  let position = 0;
  return {
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
    read: async (size) => {
      const bytes = new Uint8Array(size);
      let length = 0;
      while (length < size) {
        if (left.byteLength === 0) {
          const { done, value } = await chunks.next();
          if (done) break;
          // A stream of text would be taken for nothing.
          if (!(value instanceof Uint8Array)) throw new TypeError('the stream gives something else than bytes');
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
      // Not waited for: an iterator that stands still would hold up whoever aborts.
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
