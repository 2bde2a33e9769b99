import type { BatchId, JobId, LoadId, PartnerId } from '../domain/ids.ts';
/**
 * Log messages for the operator. Each message describes an event in plain words, and its fields contain the affected
 * IDs.
 */
export interface Log {
  info(fields: Readonly<Record<string, unknown>>, event: string): void;
  warn(fields: Readonly<Record<string, unknown>>, event: string): void;
  error(fields: Readonly<Record<string, unknown>>, event: string): void;
}

/** The IDs of the objects that a unit of work handles. */
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
