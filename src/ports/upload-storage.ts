import type { CustomerShare } from '../domain/customer-share.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { Part, StoredPart, Upload } from '../domain/upload.ts';

type StartedUpload = Pick<Upload, 'key' | 'storageId'>;

/** Uploads in parts to the shared bucket. */
export interface UploadStorage {
  /** Returns the storage's ID of the upload, and a new mark that the object will have. */
  start(key: string): Promise<Pick<Upload, 'storageId' | 'mark'>>;
  /** Returns URLs that accept exactly these parts and expire after this time, in the order of the parts. */
  urlsOf(upload: StartedUpload, parts: readonly Part[], seconds: number): Promise<readonly string[]>;
  /** Returns null if the upload was completed, aborted, or removed. */
  listParts(upload: StartedUpload): Promise<readonly StoredPart[] | null>;
  /** Stores the object. Returns false if the upload was completed, aborted, or removed. */
  complete(upload: StartedUpload, parts: readonly StoredPart[]): Promise<boolean>;
  /** Aborting an upload again has no effect. */
  abort(upload: StartedUpload): Promise<void>;
  /** Whether the object with this key was stored by the upload with this mark. */
  isStored(upload: Pick<Upload, 'key' | 'mark'>): Promise<boolean>;
}

/** The uploads that Inlet has started. */
export interface UploadLog {
  /**
   * Returns false if the partner, or the customer, has too many uploads that can still be continued. Concurrent calls can
   * exceed the limit by the number of calls.
   */
  add(
    partnerId: PartnerId,
    upload: StartedUpload & Pick<Upload, 'expiresAt'>,
    limit: { readonly atMost: number; readonly share: CustomerShare | null },
  ): Promise<boolean>;
  /** Notes that an upload was completed or aborted. Noting it again has no effect. */
  end(partnerId: PartnerId, upload: Pick<Upload, 'storageId'>): Promise<void>;
}

/** The same uploads, for workers. */
export interface UploadSweep {
  /** Lists uploads of all partners that expired more than this time ago and have not ended, in the order of their IDs. */
  listExpired(
    graceHours: number,
    page: { readonly afterId: number; readonly limit: number },
  ): Promise<readonly (StartedUpload & { readonly id: number })[]>;
  markEnded(ids: readonly number[]): Promise<void>;
  /** Removes up to `limit` records of uploads that have ended, and returns the number removed. */
  removeEnded(limit: number): Promise<number>;
}
