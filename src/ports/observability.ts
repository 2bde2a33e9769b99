import type { BatchId, JobId, LoadId, PartnerId } from '../domain/ids.ts';
/** Messages for the operator. Each one describes an event in plain words and names the IDs that it concerns. */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, event: string): void;
  warn(fields: Readonly<Record<string, unknown>>, event: string): void;
  error(fields: Readonly<Record<string, unknown>>, event: string): void;
}

/** The IDs that a unit of work concerns. */
export type WorkIds = {
  readonly partnerId?: PartnerId;
  readonly jobId?: JobId;
  readonly batchId?: BatchId;
  readonly loadId?: LoadId;
};

export interface Trace {
  /** Runs a named unit of work. Its IDs are added to every log line and, if tracing is enabled, to a span. */
  span<T>(name: string, ids: WorkIds, run: () => Promise<T>): Promise<T>;
}
