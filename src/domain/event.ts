import type { Scope } from './caller.ts';
import type { Split } from './composition/counts.ts';
import { type JobKind, jobKind } from './job.ts';

type OfAudience = { readonly audienceId: number; readonly warehouseSegmentId: number };
type OfJob = { readonly importLogId: number; readonly totalRows: number; readonly code: string | null };
type Ended = { readonly status: 2 | 3 };
type OfRejects = { readonly rows: number; readonly code: string | null };
type OfSubscription = { readonly subscriptionId: number };
type OfWebhook = { readonly webhookId: number };

export const disabledReasons = ['request', 'gone', 'failures'] as const;

/** Why a webhook is disabled: by its owner, by a 410 response, or after days of failures. */
export type DisabledReason = (typeof disabledReasons)[number];

/** What happened. The data contains IDs and counts, but no device IDs. */
export type EventContent =
  | {
      readonly type: 'import.finished' | 'import.failed';
      readonly data: OfJob & { readonly files: number; readonly failedFiles: number };
    }
  | { readonly type: 'delete.finished' | 'delete.failed'; readonly data: OfJob }
  | {
      readonly type: 'import.rejects.finished' | 'import.rejects.failed';
      readonly data: OfRejects & { readonly importLogId: number; readonly files: number; readonly failedFiles: number };
    }
  | {
      readonly type: 'audience.rejects.finished' | 'audience.rejects.failed';
      readonly data: OfRejects & OfAudience & { readonly fileId: string };
    }
  | {
      readonly type: 'audience.file.finished';
      readonly data: OfAudience &
        Ended & {
          readonly fileId: string;
          readonly s3Path: string;
          readonly totalRows: number;
          readonly code: string | null;
        };
    }
  | { readonly type: 'audience.ready'; readonly data: OfAudience & Ended }
  | { readonly type: 'audience.cleared' | 'audience.deleted'; readonly data: OfAudience }
  | { readonly type: 'report.ready'; readonly data: OfAudience & { readonly split: Split | null } }
  | { readonly type: 'subscription.too_many_objects'; readonly data: OfSubscription }
  | { readonly type: 'webhook.test' | 'webhook.failing'; readonly data: OfWebhook }
  | { readonly type: 'webhook.disabled'; readonly data: OfWebhook & { readonly reason: DisabledReason } };

export type EventType = EventContent['type'];

export const eventTypes = [
  'import.finished',
  'import.failed',
  'import.rejects.finished',
  'import.rejects.failed',
  'delete.finished',
  'delete.failed',
  'audience.file.finished',
  'audience.ready',
  'audience.cleared',
  'audience.deleted',
  'audience.rejects.finished',
  'audience.rejects.failed',
  'report.ready',
  'subscription.too_many_objects',
  'webhook.test',
  'webhook.failing',
  'webhook.disabled',
] as const satisfies readonly EventType[];

/** An entry in a partner's event log. Sequence numbers have no gaps. */
export type LoggedEvent = EventContent & {
  /** Never used for another event, not even after a backup is restored. */
  readonly id: string;
  readonly sequence: number;
  /** The customer's name, or null if the event concerns the partner itself. */
  readonly customer: string | null;
  readonly createdAt: Date;
};

/** After this number of days, events are deleted. */
export const eventDays = 30;

const scopeOfFamily: Readonly<Record<string, Scope>> = {
  import: 'marketplace:read',
  delete: 'marketplace:read',
  audience: 'audience:read',
  report: 'audience:read',
  subscription: 'marketplace:read',
  webhook: 'webhooks:write',
};

/** The types of events that a caller with these scopes cannot see. */
export function hiddenTypes(scopes: readonly Scope[]): readonly EventType[] {
  return eventTypes.filter((type) => {
    const needed = scopeOfFamily[type.split('.')[0] ?? ''];
    return needed !== undefined && !scopes.includes(needed);
  });
}

/** Describes the end of an import or a delete. */
export function eventOfJob(
  kind: Exclude<JobKind, 'audience'>,
  job: OfJob & { readonly isFailed: boolean; readonly files: number; readonly failedFiles: number },
): EventContent {
  const { importLogId, totalRows, code, isFailed, files, failedFiles } = job;
  if (kind === jobKind.delete)
    return { type: isFailed ? 'delete.failed' : 'delete.finished', data: { importLogId, totalRows, code } };
  return {
    type: isFailed ? 'import.failed' : 'import.finished',
    data: { importLogId, totalRows, code, files, failedFiles },
  };
}

/** The path of the record that the event concerns. */
function linkOf(event: EventContent): string {
  switch (event.type) {
    case 'import.finished':
    case 'import.failed':
    case 'delete.finished':
    case 'delete.failed':
      return `/v1/marketplace/import/${event.data.importLogId}`;
    case 'import.rejects.finished':
    case 'import.rejects.failed':
      return `/v1/marketplace/import/${event.data.importLogId}/rejects`;
    case 'audience.rejects.finished':
    case 'audience.rejects.failed':
      return `/v2/firstparty/audience/${event.data.audienceId}/files/${event.data.fileId}/rejects`;
    case 'audience.file.finished':
    case 'audience.ready':
    case 'audience.cleared':
    case 'audience.deleted':
      return `/v2/firstparty/audience/${event.data.audienceId}`;
    case 'report.ready': {
      const query = event.data.split === null ? '' : `?split=${event.data.split}`;
      return `/v2/firstparty/segments/${event.data.warehouseSegmentId}/composition${query}`;
    }
    case 'subscription.too_many_objects':
      return `/v1/marketplace/subscriptions/${event.data.subscriptionId}`;
    case 'webhook.test':
    case 'webhook.failing':
    case 'webhook.disabled':
      return `/v1/webhooks/${event.data.webhookId}`;
  }
}

function dataOf(event: EventContent) {
  switch (event.type) {
    case 'import.finished':
    case 'import.failed': {
      const { importLogId, totalRows, files, failedFiles, code } = event.data;
      const data = { import_log_id: importLogId, total_rows: totalRows, files, failed_files: failedFiles, code };
      return { type: event.type, data };
    }
    case 'delete.finished':
    case 'delete.failed': {
      const { importLogId, totalRows, code } = event.data;
      return { type: event.type, data: { import_log_id: importLogId, total_rows: totalRows, code } };
    }
    case 'import.rejects.finished':
    case 'import.rejects.failed': {
      const { importLogId, rows, files, failedFiles, code } = event.data;
      return { type: event.type, data: { import_log_id: importLogId, rows, files, failed_files: failedFiles, code } };
    }
    case 'audience.rejects.finished':
    case 'audience.rejects.failed': {
      const { fileId, rows, code } = event.data;
      return { type: event.type, data: { ...audienceOf(event.data), file_id: fileId, rows, code } };
    }
    case 'audience.file.finished': {
      const { fileId, s3Path, status, totalRows, code } = event.data;
      const data = { ...audienceOf(event.data), file_id: fileId, s3_path: s3Path, status, total_rows: totalRows, code };
      return { type: event.type, data };
    }
    case 'audience.ready':
      return { type: event.type, data: { ...audienceOf(event.data), status: event.data.status } };
    case 'audience.cleared':
    case 'audience.deleted':
      return { type: event.type, data: audienceOf(event.data) };
    case 'report.ready':
      return { type: event.type, data: { ...audienceOf(event.data), split: event.data.split } };
    case 'subscription.too_many_objects':
      return { type: event.type, data: { subscription_id: event.data.subscriptionId } };
    case 'webhook.test':
    case 'webhook.failing':
      return { type: event.type, data: { webhook_id: event.data.webhookId } };
    case 'webhook.disabled':
      return { type: event.type, data: { webhook_id: event.data.webhookId, reason: event.data.reason } };
  }
}

function audienceOf({ audienceId, warehouseSegmentId }: OfAudience) {
  return { audience_id: audienceId, default_warehouse_segment_id: warehouseSegmentId };
}

/** Returns the event in the form that the API's event log and webhook bodies use. */
export function eventRecord(event: LoggedEvent) {
  return {
    id: event.id,
    sequence: event.sequence,
    ...dataOf(event),
    created_at: event.createdAt.toISOString(),
    customer: event.customer,
    link: linkOf(event),
  };
}
