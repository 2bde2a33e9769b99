import { requestWindowSeconds } from '../../domain/request-limits.ts';
import type { RequestWindows } from '../../ports/request-windows.ts';
import type { Database } from './connect.ts';
import { deleteEndedWindows } from './request-windows/delete-ended-windows.ts';
import { takeRequests } from './request-windows/take-requests.ts';

export function postgresRequestWindows(db: Database, windowSeconds = requestWindowSeconds): RequestWindows {
  return {
    take: (portions) => takeRequests(db, windowSeconds, portions),
    sweep: () => deleteEndedWindows(db, windowSeconds),
  };
}
