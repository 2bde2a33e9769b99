import { describe, expect, it } from 'vitest';
import { keysInNotification } from './keys-in-notification.ts';

type Entity = { readonly bucket: { readonly name: string }; readonly object: { readonly key: string } };

const entity = (key: string, bucket = 'files'): Entity => ({ bucket: { name: bucket }, object: { key } });
const records = (...entities: Entity[]): string => JSON.stringify({ Records: entities.map((s3) => ({ s3 })) });

/** The example from the Amazon S3 User Guide. */
const event = (key: string, changes: object = {}, bucket = 'files'): string =>
  JSON.stringify({
    version: '0',
    id: '17793124-05d4-b198-2fde-7ededc63b103',
    'detail-type': 'Object Created',
    source: 'aws.s3',
    account: '111122223333',
    time: '2021-11-12T00:00:00Z',
    region: 'ca-central-1',
    resources: [`arn:aws:s3:::${bucket}`],
    detail: {
      version: '0',
      bucket: { name: bucket },
      object: {
        key,
        size: 5,
        etag: 'b1946ac92492d2347c6235b4d2611184',
        'version-id': 'IYV3p45BT0ac8hjHg1houSdS1a.Mro8e',
        sequencer: '617f08299329d189',
      },
      'request-id': 'N4N7GDK58NMKJ12R',
      requester: '123456789012',
      'source-ip-address': '1.2.3.4',
      reason: 'PutObject',
    },
    ...changes,
  });

describe('keysInNotification', () => {
  it('reads records from Ceph', () => {
    expect(keysInNotification(records(entity('a/1.csv'), entity('a/2.csv')), 'files')).toEqual(['a/1.csv', 'a/2.csv']);
    expect(keysInNotification(records(), 'files')).toEqual([]);
  });

  it('reads an event from Amazon EventBridge, and does not decode its key', () => {
    expect(keysInNotification(event('acme/in/1.csv'), 'files')).toEqual(['acme/in/1.csv']);
    for (const key of ['a b+c.csv', 'a%20b%2F.csv', 'ä/日本.csv', '2026-11-19T11:00:00.csv'])
      expect(keysInNotification(event(key), 'files')).toEqual([key]);
  });

  it('ignores objects in other buckets', () => {
    expect(keysInNotification(records(entity('a', 'other'), entity('b')), 'files')).toEqual(['b']);
    expect(keysInNotification(event('a', {}, 'other'), 'files')).toEqual([]);
  });

  it('ignores keys that no object can have, and keeps the others', () => {
    const longest = 'k'.repeat(1_024);
    const body = records(entity(`${longest}k`), entity('a\0b'), entity(longest));
    expect(keysInNotification(body, 'files')).toEqual([longest]);
    expect(keysInNotification(event('a\0b'), 'files')).toEqual([]);
  });

  it.each([
    ['another event of S3', event('a', { 'detail-type': 'Object Deleted' })],
    ['an event of another source', event('a', { source: 'custom.app' })],
    ['an event without details', event('a', { detail: null })],
    ['an event without a key', event('a', { detail: { bucket: { name: 'files' }, object: {} } })],
    ['an event with a key that is not a string', event('a', { detail: { ...entity('a'), object: { key: ['a'] } } })],
    ['a list of events', `[${event('a')}]`],
    ['a record that is not an object', '{"Records":[null]}'],
    ['too many records', records(...Array.from({ length: 1_001 }, () => entity('a')))],
    ['a key of a prototype', '{"__proto__":{"Records":[]}}'],
    ['nested arrays', '['.repeat(100_000)],
    ['null', 'null'],
    ['text', 'Object Created'],
    ['nothing', ''],
  ])('rejects %s', (_what, body) => {
    expect(keysInNotification(body, 'files')).toBeNull();
  });
});
