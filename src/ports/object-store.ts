import type { JobId, PartnerId } from '../domain/ids.ts';
import type { Readable } from 'node:stream';
import type { PathType } from '../domain/import-log.ts';
import type { Secret } from '../domain/secret.ts';

export type StoredObject = { readonly key: string; readonly etag: string; readonly size: number };

/** `lastModified` is null if the storage does not tell it. */
export type FoundObject = StoredObject & { readonly lastModified: Date | null };

export type OpenedObject = {
  /** True if the file starts with the gzip magic number. */
  readonly isGzip: boolean;
  /** The first decompressed bytes of the content, which are enough to detect the row layout. */
  readonly head: Uint8Array;
  /** All bytes of the object as stored. */
  readonly body: Readable;
  /** Number of stored bytes read from `body` so far. */
  readonly bytesRead: () => number;
};

export interface ObjectStore {
  /** Finds the object with exactly this key. */
  find(key: string): Promise<FoundObject | null>;
  /** Lists at most `limit` objects whose key starts with the prefix, in byte order. Omits "folder" objects. */
  list(prefix: string, limit: number): Promise<readonly FoundObject[]>;
  /**
   * Opens the listed version of the object. Fails with `file_changed` if the object has changed since it was listed.
   */
  open(object: StoredObject, signal: AbortSignal): Promise<OpenedObject>;
  /** Reads the listed version of a small object and decompresses it. Returns null if it exceeds the byte limit. */
  read(
    object: StoredObject,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<{ readonly isGzip: boolean; readonly content: Uint8Array } | null>;
}

/** Location of a job's files. */
export type JobSource = {
  readonly jobId: JobId;
  readonly partnerId: PartnerId;
  readonly pathType: PathType;
  readonly filePath: string;
};

export interface SourceStorage {
  /** Opens the storage of the job's files for the duration of `run`. */
  withObjects<T>(source: JobSource, run: (objects: ObjectStore) => Promise<T>): Promise<T>;
}

export type StorageGrant = {
  readonly bucket: string;
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
};

/** The access keys of partners' storage users. */
export interface StorageKeys {
  /** Returns the IDs of the user's access keys. Null if the partner has no storage user. */
  list(partnerName: string): Promise<readonly string[] | null>;
  /** Returns an ID for a new access key, so that the key can be recorded before it exists. */
  newId(): string;
  /** Adds an access key to the user, and returns its secret. Must not run concurrently for the same user. */
  create(partnerName: string, accessKeyId: string): Promise<Secret>;
  /** Removes an access key, and restores the user's access. If the user has no such key, only restores the access. */
  remove(partnerName: string, accessKeyId: string): Promise<void>;
}

/** `Grant` is null if operators create the storage credentials themselves. */
export interface StorageProvisioner<Grant = StorageGrant> {
  /** Creates credentials that are restricted to the prefix. Idempotent. Must not run concurrently for the same user. */
  provision(user: { readonly name: string; readonly prefix: string }): Promise<Grant>;
}
