import type { BatchId, JobId, LoadId, PartnerId } from '../domain/ids.ts';
/** What a use case may tell the operator: an event in plain words and the ids it concerns. */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, event: string): void;
  warn(fields: Readonly<Record<string, unknown>>, event: string): void;
  error(fields: Readonly<Record<string, unknown>>, event: string): void;
}

/** What a piece of work belongs to. */
export type WorkIds = {
  readonly partnerId?: PartnerId;
  readonly jobId?: JobId;
  readonly batchId?: BatchId;
  readonly loadId?: LoadId;
};

export interface Trace {
  /** Runs a piece of work under a name: its ids stand on every line of the log, and on a span where traces are kept. */
  span<T>(name: string, ids: WorkIds, run: () => Promise<T>): Promise<T>;
}
