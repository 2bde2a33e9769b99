import type { Event } from '@inlet/sdk/browser';
import { describe, expect, it } from 'vitest';
import { detailsOf, ownCustomerOf, recordOf, titleOf } from './describe-event.ts';

const common = { id: 'evt_1', sequence: 1, customer: null, created_at: '2026-11-18T12:00:00.000Z', link: '' } as const;
const ofAudience = { audience_id: 3, default_warehouse_segment_id: 100_003 } as const;
const failedImport: Event = {
  ...common,
  type: 'import.failed',
  data: { import_log_id: 7, total_rows: 1, files: 2, failed_files: 1, code: 'no_files' },
};
const failedFile: Event = {
  ...common,
  type: 'audience.file.finished',
  data: { ...ofAudience, file_id: 'f', s3_path: 'acme/1.csv', status: 3, total_rows: 1_200, code: 'invalid_id' },
};
const deletedAudience: Event = { ...common, type: 'audience.deleted', data: ofAudience };
const report: Event = { ...common, type: 'report.ready', data: { ...ofAudience, split: 'country' } };
const disabled: Event = { ...common, type: 'webhook.disabled', data: { webhook_id: 5, reason: 'gone' } };
const overfull: Event = { ...common, type: 'subscription.too_many_objects', data: { subscription_id: 6 } };
const removed: Event = {
  ...common,
  type: 'delete.finished',
  data: { import_log_id: 8, total_rows: 0, code: null },
};

describe('an event', () => {
  it.each([
    [failedImport, 'Import 7', '/console/imports/7'],
    [removed, 'Delete 8', '/console/imports/8'],
    [failedFile, 'Audience 3', '/console/audiences/3'],
    [report, 'Report of audience 3', '/console/segments/100003/composition?split=country'],
    [overfull, 'Subscription 6', '/console/subscriptions/6'],
    [disabled, 'Webhook 5', '/console/webhooks/5'],
  ])('leads to the page of its record: $type', (event, text, href) => {
    expect(recordOf(event)).toEqual({ text, href });
  });

  it('does not lead to a deleted audience', () => {
    expect(recordOf(deletedAudience)).toBeNull();
    expect(titleOf(deletedAudience)).toBe('Audience was deleted');
  });

  it.each([
    [failedImport, '1 row, 1 of 2 files failed, no_files'],
    [failedFile, '1,200 rows, failed, invalid_id'],
    [removed, '0 rows'],
    [report, ''],
    [overfull, ''],
    [disabled, 'gone'],
  ])('describes the outcome: $type', (event, text) => {
    expect(detailsOf(event)).toBe(text);
  });

  it('is named in words, or by its type if it is from a later release', () => {
    expect(titleOf(failedImport)).toBe('Import failed');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a type that this release does not know
    expect(titleOf({ type: 'import.paused' as Event['type'] })).toBe('import.paused');
  });
});

describe('ownCustomerOf', () => {
  it('is null unless a partner sees an event of one of its customers', () => {
    expect(ownCustomerOf({ customer: 'shop' }, 'partner')).toBe('shop');
    expect(ownCustomerOf({ customer: 'shop' }, 'customer')).toBeNull();
    expect(ownCustomerOf({ customer: null }, 'partner')).toBeNull();
  });
});
