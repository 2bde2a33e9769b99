import type { Database } from './connect.ts';
import { deleteOld } from './requests/delete-old.ts';
import { insertRequest } from './requests/insert-request.ts';
import type { RequestRecords } from './requests/request-records.ts';
import { selectRequest } from './requests/select-request.ts';
import { takeKey } from './requests/take-key.ts';

export function postgresAcceptedRequests(db: Database): RequestRecords {
  return {
    take: takeKey,
    find: selectRequest,
    keep: insertRequest,
    forgetOld: (limit) => deleteOld(db, limit),
  };
}
