import type { ImportLog, KeyType, PathType } from '../domain/import-log.ts';
import type { PartnerId } from '../domain/partner.ts';

export type NewImport = {
  readonly filePath: string;
  readonly pathType: PathType;
  readonly keyType: KeyType;
  readonly compressed: boolean | null;
};

export interface ImportLogStore {
  /** Makes the record, its place in the partner's lane and the lane's token in one transaction. Gives the log's id. */
  submit(partnerId: PartnerId, request: NewImport, maxOpenJobs: number): Promise<number>;
  find(partnerId: PartnerId, importLogId: number): Promise<ImportLog | null>;
  /** The last ones, newest first. */
  listNewest(partnerId: PartnerId, limit: number): Promise<readonly ImportLog[]>;
}
