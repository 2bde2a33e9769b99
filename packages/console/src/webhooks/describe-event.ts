import type { Event } from '@inlet/sdk/browser';
import { formatCount } from '../format.ts';
import type { Role } from '../session.ts';

const titles: Readonly<Record<string, string>> = {
  'import.finished': 'Import finished',
  'import.failed': 'Import failed',
  'import.rejects.finished': 'Rejected rows exported',
  'import.rejects.failed': 'Export of rejected rows failed',
  'delete.finished': 'Delete finished',
  'delete.failed': 'Delete failed',
  'audience.file.finished': 'Audience file ended',
  'audience.ready': 'All files of an audience ended',
  'audience.cleared': 'Audience was cleared',
  'audience.deleted': 'Audience was deleted',
  'audience.rejects.finished': 'Rejected rows exported',
  'audience.rejects.failed': 'Export of rejected rows failed',
  'report.ready': 'Report is ready',
  'subscription.too_many_objects': 'Subscription has too many objects',
  'webhook.test': 'Webhook tested',
  'webhook.failing': 'Webhook is failing',
  'webhook.disabled': 'Webhook was disabled',
};

/** A type from a later release has no title. */
export function titleOf({ type }: Pick<Event, 'type'>): string {
  return titles[type] ?? type;
}

export type RecordLink = { readonly text: string; readonly href: string };

/** The page of the record that the event concerns. */
export function recordOf({ type, data }: Event): RecordLink | null {
  if (type === 'report.ready') {
    const query = data.split === null ? '' : `?split=${data.split}`;
    return {
      text: `Report of audience ${data.audience_id}`,
      href: `/console/segments/${data.default_warehouse_segment_id}/composition${query}`,
    };
  }
  if ('import_log_id' in data) {
    const kind = type.startsWith('delete.') ? 'Delete' : 'Import';
    return { text: `${kind} ${data.import_log_id}`, href: `/console/imports/${data.import_log_id}` };
  }
  // A deleted audience has no page.
  if (type === 'audience.deleted') return null;
  if ('audience_id' in data)
    return { text: `Audience ${data.audience_id}`, href: `/console/audiences/${data.audience_id}` };
  if ('subscription_id' in data)
    return { text: `Subscription ${data.subscription_id}`, href: `/console/subscriptions/${data.subscription_id}` };
  if ('webhook_id' in data) return { text: `Webhook ${data.webhook_id}`, href: `/console/webhooks/${data.webhook_id}` };
  return null;
}

/** The partner's customer to which the record belongs, or null. Only the customer can open its audiences. */
export function ownCustomerOf({ customer }: Pick<Event, 'customer'>, role: Role | undefined): string | null {
  return role === 'partner' ? customer : null;
}

/** Counts and, after a failure, the reason. */
export function detailsOf({ data }: Event): string {
  const parts: string[] = [];
  if ('total_rows' in data) parts.push(`${formatCount(data.total_rows)} ${data.total_rows === 1 ? 'row' : 'rows'}`);
  if ('rows' in data) parts.push(`${formatCount(data.rows)} ${data.rows === 1 ? 'row' : 'rows'}`);
  if ('failed_files' in data && data.failed_files > 0)
    parts.push(`${formatCount(data.failed_files)} of ${formatCount(data.files)} files failed`);
  else if ('status' in data && data.status === 3) parts.push('failed');
  if ('code' in data && data.code !== null) parts.push(data.code);
  if ('reason' in data) parts.push(data.reason);
  return parts.join(', ');
}
