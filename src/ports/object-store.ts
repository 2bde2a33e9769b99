import type { Readable } from 'node:stream';

export type StoredObject = { readonly key: string; readonly etag: string; readonly size: number };

export type OpenedObject = {
  /** True when the first bytes are those of gzip. */
  readonly isGzip: boolean;
  /** The beginning of the content, unpacked: enough to see how its lines look. */
  readonly head: Uint8Array;
  /** All bytes of the object as they are stored. */
  readonly body: Readable;
  /** How many of the stored bytes have been taken from `body` so far. */
  readonly bytesRead: () => number;
};

export interface ObjectStore {
  /** The object with exactly this key. */
  find(key: string): Promise<StoredObject | null>;
  /** The objects whose key begins with the prefix, in byte order, without "folder" objects, `limit` at the most. */
  list(prefix: string, limit: number): Promise<readonly StoredObject[]>;
  /** Opens the object as it was listed; fails with `file_changed` when it is another one now. */
  open(object: StoredObject, signal: AbortSignal): Promise<OpenedObject>;
  /** A small object as it was listed, unpacked; null when that would be more than so many bytes. */
  read(
    object: StoredObject,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<{ readonly isGzip: boolean; readonly content: Uint8Array } | null>;
}
