import type { Part, StoredPart, UnfinishedUpload, Upload } from '../domain/upload.ts';

type StartedUpload = Pick<Upload, 'key' | 'storageId'>;

/** Uploads in parts to the shared bucket. */
export interface UploadStorage {
  /**
   * Lists the unfinished uploads under the prefix, up to a limit. An upload is Inlet's own if it has the same initiator as the
   * given one. If the storage does not say who has started the uploads, only the given one is.
   */
  listUnfinished(prefix: string, own: StartedUpload): Promise<readonly UnfinishedUpload[]>;
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
