import { describe, expect, it } from 'vitest';
import { scopes } from './caller.ts';
import { type LoggedEvent, eventOfJob, eventRecord, hiddenTypes } from './event.ts';

const common = { id: 'evt_1', sequence: 7, customer: null, createdAt: new Date('2026-11-18T12:00:00.000Z') };
const job = { importLogId: 3, totalRows: 5, code: null, isFailed: false, files: 2, failedFiles: 0 };

describe('the events of a job', () => {
  it('distinguish imports from deletes, and success from failure', () => {
    expect(eventOfJob('import', job)).toEqual({
      type: 'import.finished',
      data: { importLogId: 3, totalRows: 5, code: null, files: 2, failedFiles: 0 },
    });
    expect(eventOfJob('import', { ...job, isFailed: true, code: 'no_files' }).type).toBe('import.failed');
    expect(eventOfJob('delete', job)).toEqual({
      type: 'delete.finished',
      data: { importLogId: 3, totalRows: 5, code: null },
    });
    expect(eventOfJob('delete', { ...job, isFailed: true }).type).toBe('delete.failed');
  });
});

describe('the types of events that a caller cannot see', () => {
  it('depend on its scopes', () => {
    expect(hiddenTypes(scopes)).toEqual([]);
    const families = new Set(hiddenTypes(['marketplace:read']).map((type) => type.split('.')[0]));
    expect(families).toEqual(new Set(['audience', 'report', 'webhook']));
    expect(hiddenTypes(['audience:read', 'webhooks:write'])).toEqual([
      'import.finished',
      'import.failed',
      'import.rejects.finished',
      'import.rejects.failed',
      'delete.finished',
      'delete.failed',
      'subscription.too_many_objects',
    ]);
  });
});

describe('the record of an event', () => {
  const of = { audienceId: 1, warehouseSegmentId: 500_001 };
  const cases: readonly (readonly [LoggedEvent, string])[] = [
    [{ ...common, ...eventOfJob('import', job) }, '/v1/marketplace/import/3'],
    [{ ...common, type: 'audience.cleared', data: of }, '/v2/firstparty/audience/1'],
    [
      {
        ...common,
        type: 'import.rejects.finished',
        data: { importLogId: 3, rows: 9, files: 2, failedFiles: 0, code: null },
      },
      '/v1/marketplace/import/3/rejects',
    ],
    [
      { ...common, type: 'audience.rejects.failed', data: { ...of, fileId: '71', rows: 0, code: 'file_changed' } },
      '/v2/firstparty/audience/1/files/71/rejects',
    ],
    [{ ...common, type: 'audience.deleted', data: of }, '/v2/firstparty/audience/1'],
    [{ ...common, type: 'audience.ready', data: { ...of, status: 2 } }, '/v2/firstparty/audience/1'],
    [
      { ...common, type: 'report.ready', data: { ...of, split: 'country' } },
      '/v2/firstparty/segments/500001/composition?split=country',
    ],
    [
      { ...common, type: 'subscription.too_many_objects', data: { subscriptionId: 5 } },
      '/v1/marketplace/subscriptions/5',
    ],
    [{ ...common, type: 'webhook.disabled', data: { webhookId: 9, reason: 'gone' } }, '/v1/webhooks/9'],
  ];

  it.each(cases)('links to the record that it concerns: %j', (event, link) => {
    expect(eventRecord(event)).toMatchObject({
      id: 'evt_1',
      sequence: 7,
      type: event.type,
      created_at: '2026-11-18T12:00:00.000Z',
      link,
    });
  });
});
