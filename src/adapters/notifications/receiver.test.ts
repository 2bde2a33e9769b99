import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../domain/secret.ts';
import type { ObjectNotifications } from '../../ports/subscription-store.ts';
import { type NotificationOutcome, notificationsPath, receiveNotifications } from './receiver.ts';

const token = 'a-token-of-the-test';
const body = (key: string, bucket = 'files'): string =>
  JSON.stringify({ Records: [{ eventName: 'ObjectCreated:Put', s3: { bucket: { name: bucket }, object: { key } } }] });

describe('the receiver of notifications', { timeout: 30_000 }, () => {
  let receiver: ObjectNotifications | null = null;
  const outcomes: NotificationOutcome[] = [];
  const keys: string[] = [];

  async function passOn(found: readonly string[]): Promise<readonly string[]> {
    keys.push(...found);
    return [];
  }
  async function start(onKeys = passOn): Promise<string> {
    outcomes.length = 0;
    keys.length = 0;
    receiver = await receiveNotifications({
      host: '127.0.0.1',
      port: 0,
      bucket: 'files',
      tokens: [new Secret(token), new Secret('the-older-token')],
      onKeys,
      record: (outcome) => outcomes.push(outcome),
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    });
    return `http://127.0.0.1:${receiver.port}${notificationsPath}`;
  }
  afterEach(async () => {
    await receiver?.close();
    receiver = null;
  });

  const post = async (url: string, text: string): Promise<number> =>
    (await fetch(url, { method: 'POST', body: text })).status;

  it('passes on the keys in the bucket, and accepts the older token', async () => {
    const url = await start();
    expect(await post(url + token, body('acme/ä b.csv'))).toBe(204);
    expect(await post(`${url}the-older-token`, body('acme/2.csv'))).toBe(204);
    expect(await post(url + token, body('acme/3.csv', 'other'))).toBe(204);
    await expect.poll(() => keys.toSorted()).toEqual(['acme/2.csv', 'acme/ä b.csv']);
    expect(outcomes).toEqual(['accepted', 'accepted', 'accepted']);
  });

  it('passes on the keys of locked subscriptions again', async () => {
    const url = await start(async (found) => {
      await passOn(found);
      return keys.length < 3 ? found : [];
    });
    expect(await post(url + token, body('acme/1.csv'))).toBe(204);
    await expect.poll(() => keys).toEqual(['acme/1.csv', 'acme/1.csv', 'acme/1.csv']);
    expect(outcomes).toEqual(['accepted']);
  });

  it('rejects requests without the token', async () => {
    const url = await start();
    for (const path of ['', 'wrong', `${token}x`, `x/${token}`]) expect(await post(url + path, body('a'))).toBe(404);
    expect((await fetch(url + token)).status).toBe(404);
    expect(keys).toEqual([]);
    expect(new Set(outcomes)).toEqual(new Set(['rejected']));
  });

  it('ignores requests that are not notifications, so that the storage does not repeat them', async () => {
    const url = await start();
    for (const text of ['', '{', '[]', '{"Records":[{}]}']) expect(await post(url + token, text)).toBe(204);
    expect(outcomes).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
  });

  it('rejects a body that is too long', async () => {
    const url = await start();
    // The connection can be closed before the response is read.
    const status = await post(url + token, body('a'.repeat(300_000))).catch(() => 413);
    expect(status).toBe(413);
    expect(outcomes).toEqual(['rejected']);
  });

  it('responds even while the keys cannot be passed on, and drops keys above the limit', async () => {
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    let isBlocked = false;
    const url = await start(() => {
      isBlocked = true;
      return promise;
    });
    await post(url + token, body('first'));
    await expect.poll(() => isBlocked).toBe(true);
    const many = (from: number): string =>
      JSON.stringify({
        Records: Array.from({ length: 1_000 }, (_, n) => ({
          s3: { bucket: { name: 'files' }, object: { key: String(from + n) } },
        })),
      });
    for (let n = 0; n < 11; n += 1) expect(await post(url + token, many(n * 1_000))).toBe(204);
    expect(outcomes.filter((outcome) => outcome === 'dropped')).toHaveLength(1);
    resolve([]);
  });
});
