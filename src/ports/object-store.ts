import type { JobId, PartnerId } from '../domain/ids.ts';
import type { Readable } from 'node:stream';
import type { PathType } from '../domain/import-log.ts';
import type { Secret } from '../domain/secret.ts';

export type StoredObject = { readonly key: string; readonly etag: string; readonly size: number };

export type OpenedObject = {
  /** True when the first bytes are those of gzip. */
  readonly isGzip: boolean;
  /** The first bytes of the content, uncompressed: enough to detect the row layout. */
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

/** Where the files of a job are. */
export type JobSource = {
  readonly jobId: JobId;
  readonly partnerId: PartnerId;
  readonly pathType: PathType;
  readonly filePath: string;
};

export interface SourceStorage {
  /** Gives the storage of the job's files for as long as `run` takes. */
  withObjects<T>(source: JobSource, run: (objects: ObjectStore) => Promise<T>): Promise<T>;
}

export type StorageGrant = {
  readonly bucket: string;
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
};

/** `Grant` is null where the operator gives out the credentials. */
export interface StorageProvisioner<Grant = StorageGrant> {
  /** Gives storage credentials that can do nothing outside of the prefix. Repeating it gives the same credentials; not to be run
   * twice at once for the same user. */
  provision(user: { readonly name: string; readonly prefix: string }): Promise<Grant>;
}
