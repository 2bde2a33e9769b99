import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { amendAnswers } from '../../src/usecases/privacy/amend-drop.ts';
import { statusOf } from '../../src/domain/drop-policy.ts';
import { DropCampaign, hashOf } from '../drop/drop-campaign.ts';
import { withDatabase } from '../support/stores.ts';
import { zipOf } from '../drop/zip.ts';
import type { DropBatch, DropItem, DropServer, WithdrawnItem } from '../drop/drop-server.ts';

// Runs DROP cycles against real stores, while commands die at any call and the server sends any response that it is
// allowed to send.

const cycles = inject('campaign') === 'long' ? 200 : 8;
const seed = 24;
const { signal } = new AbortController();

/** A random number generator with a fixed seed (mulberry32). */
function randomOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A model of consumers and devices, which computes the answer that each item must get. */
class Model {
  readonly #random: () => number;
  readonly stored = new Set<string>();
  readonly exempt = new Set<string>();
  /** The items that were requested and not withdrawn. */
  readonly live = new Map<string, DropItem>();
  readonly devices: string[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  pick<T>(values: readonly T[]): T | undefined {
    return values[Math.floor(this.#random() * values.length)];
  }

  device(): string {
    const digits = Array.from({ length: 32 }, () => Math.floor(this.#random() * 16).toString(16)).join('');
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  id(): string {
    return Array.from({ length: 12 }, () => letters[Math.floor(this.#random() * 62)]).join('');
  }

  /** Devices that partners import before the next cycle. The suppression list keeps others out. */
  newDevices(): string[] {
    const suppressed = this.suppressed();
    const fresh = Array.from({ length: 2 + this.upTo(6) }, () => this.device());
    this.devices.push(...fresh);
    const again = this.devices.filter((device) => this.chance(0.1) && !suppressed.has(hashOf(device)));
    return [...new Set([...fresh, ...again])];
  }

  suppressed(): Set<string> {
    return new Set([...this.live.values()].map(({ hash }) => hash).filter((hash) => !this.exempt.has(hash)));
  }

  batch(): DropBatch {
    const items: DropItem[] = [];
    for (let left = this.upTo(12); left > 0; left -= 1) {
      const device = this.chance(0.6) ? this.pick(this.devices) : undefined;
      const item = { id: this.id(), hash: hashOf(device ?? this.device()) };
      items.push(item);
      // Another consumer with the same device. The item IDs differ only in the case of their letters.
      const swapped = item.id.replaceAll(/[a-z]/gi, (one) =>
        one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase(),
      );
      if (this.chance(0.3) && swapped !== item.id)
        items.push({ id: swapped, hash: this.chance(0.5) ? item.hash : hashOf(this.device()) });
    }
    const withdrawn = [...this.live.values()].filter(() => this.chance(0.15));
    const removed: WithdrawnItem[] = withdrawn.map((item) => ({ ...item, listType: 'MAID' }));
    if (this.chance(0.2)) removed.push({ id: this.id(), hash: hashOf(this.device()), listType: 'Email' });
    // A consumer who requests deletion again.
    const again = withdrawn.filter(() => this.chance(0.2));
    const email = this.chance(0.3) ? { Email: [{ id: this.id(), hash: hashOf(this.device()) }] } : {};
    return { lists: { MAID: [...items, ...again], ...email }, removed };
  }

  /** Returns the status of each item, and applies the cycle. */
  apply({ lists, removed = [] }: DropBatch, shared: 'opted_out' | 'deleted'): Map<string, string> {
    const found = new Set([...this.stored].map(hashOf));
    const items = lists['MAID'] ?? [];
    const expected = new Map<string, string>();
    for (const { id, hash } of items) {
      const facts = {
        isFound: found.has(hash),
        isExempt: this.exempt.has(hash),
        isShared: items.some((other) => other.hash === hash && other.id !== id),
      };
      expected.set(id, String(statusOf(facts, { shared })));
    }
    for (const { id } of lists['Email'] ?? []) expected.set(id, '5');
    const requested = new Set(items.map(({ id }) => id));
    for (const { id } of removed) if (!requested.has(id)) this.live.delete(id);
    for (const item of items) this.live.set(item.id, item);
    const erased = new Set(items.map(({ hash }) => hash).filter((hash) => !this.exempt.has(hash)));
    for (const device of this.stored) if (erased.has(hashOf(device))) this.stored.delete(device);
    return expected;
  }
}

describe('DROP cycles', () => {
  let campaign: DropCampaign;
  const random = randomOf(seed);
  const model = new Model(random);

  beforeAll(async () => {
    campaign = await DropCampaign.start();
  });
  afterAll(() => campaign.stop());

  const last = (): DropServer['delivered'][number] => {
    const delivered = campaign.server.delivered.at(-1);
    if (!delivered) throw new Error('nothing was delivered');
    return delivered;
  };

  it('computes the hash in the published example', () => {
    const hash = '250KY6lOgzYUB3EHrkbDCE2kMEZQE69SF38muhoDudI=';
    expect(hashOf('a3f1c2d4-5678-90ab-cdef-1234567890ab')).toBe(hash);
    // Letters are converted to lower case first. Otherwise, the filter would remove the uppercase letters.
    expect(hashOf('A3F1C2D4-5678-90AB-CDEF-1234567890AB')).toBe(hash);
  });

  it('erases and suppresses a device, answers its item, and produces a proof', async () => {
    const device = 'a3f1c2d4-5678-90ab-cdef-1234567890ab';
    await campaign.store([device, randomUUID()]);
    campaign.server.add({ lists: { MAID: [{ id: 'A7kP2xQ9Lm4R', hash: hashOf(device) }] } });
    expect(await campaign.finish()).toMatchObject({ is: 'done' });
    expect([...last().answers]).toEqual([['A7kP2xQ9Lm4R', ['3']]]);
    expect((await campaign.storedDevices()).has(device)).toBe(false);
    expect(await campaign.suppressedHashes()).toEqual(new Set([hashOf(device)]));
    const [cycle] = await campaign.deps.cycles.list(1);
    const proof = await campaign.deps.cycles.findProof(cycle?.id ?? 0);
    expect(proof).toMatchObject({
      archive_sha256: campaign.deps.digest(last().archive),
      devices_erased: 1,
      items_by_status: { 3: 1 },
      uploads: [{ name: `${last().prefix}_MAID.csv`, items: 1 }],
      signature: { public_key: campaign.publicKey },
    });
    expect(proof?.erased.reduce((sum, { rows_erased: rows }) => sum + rows, 0)).toBeGreaterThan(0);
    expect(proof?.remaining.length).toBeGreaterThan(0);
    expect(proof?.remaining.every(({ rows_remaining: rows }) => rows === 0)).toBe(true);
    campaign.server.validate();
    expect(await campaign.sync()).toEqual({ is: 'nothing_new' });
    model.live.set('A7kP2xQ9Lm4R', { id: 'A7kP2xQ9Lm4R', hash: hashOf(device) });
    for (const stored of await campaign.storedDevices()) model.stored.add(stored);
  });

  it(
    `answers every item exactly once, even if commands die and DROP fails (${cycles} cycles)`,
    { timeout: cycles * 60_000 },
    async () => {
      const counts = { items: 0, kills: 0, waits: 0 };
      const exempt = Array.from({ length: 3 }, () => model.device());
      model.devices.push(...exempt);
      for (const device of exempt) model.exempt.add(hashOf(device));
      for (let n = 0; n < cycles; n += 1) {
        const added = n === 0 ? [...exempt, ...model.newDevices()] : model.newDevices();
        await campaign.store(added);
        for (const device of added) model.stored.add(device);
        const shared = model.chance(0.5) ? 'opted_out' : 'deleted';
        campaign.policy = { exempt: [...model.exempt], shared, other_lists: 'not_found' };
        const batch = model.batch();
        campaign.server.add(batch);
        const { behavior } = campaign.server;
        behavior.preparations = model.upTo(2);
        behavior.validationRequests = model.upTo(3);
        behavior.losesResponse = () => model.chance(0.1);
        behavior.fault = () => (model.chance(0.1) ? { status: 503, body: { message: 'Try again later.' } } : null);
        if (model.chance(0.2)) campaign.now = new Date('2026-08-20T09:30:00Z'); // 2:30 in California

        const deliveries = campaign.server.delivered.length;
        let isDone = false;
        for (let attempt = 0; !isDone; attempt += 1) {
          if (attempt > 200) throw new Error(`cycle ${n} does not end`);
          const kill = model.chance(0.8) ? { at: 1 + model.upTo(14), isBefore: model.chance(0.5) } : undefined;
          const outcome = await campaign.sync(kill);
          if (outcome === null) counts.kills += 1;
          else if (outcome.is === 'waiting') {
            counts.waits += 1;
            await campaign.resolve(outcome);
          }
          // A command can die after it has recorded that the cycle ended.
          const [latest] = await campaign.deps.cycles.list(1);
          isDone = Boolean(latest?.finishedAt) && campaign.server.delivered.length > deliveries;
        }
        campaign.server.validate();
        const { answers, problems, isComplete } = last();
        const expected = model.apply(batch, shared);
        expect(problems).toEqual([]);
        expect([...answers].map(([id, statuses]) => `${id} ${statuses.join()}`).toSorted()).toEqual(
          [...expected].map(([id, status]) => `${id} ${status}`).toSorted(),
        );
        expect(isComplete).toBe(true);
        expect(await campaign.storedDevices()).toEqual(model.stored);
        expect(await campaign.suppressedHashes()).toEqual(model.suppressed());
        counts.items += expected.size;
        if (n % 20 === 19) await campaign.merge();
      }
      expect(campaign.server.delivered).toHaveLength(cycles + 1);
      process.stdout.write(`${cycles} cycles, ${counts.items} items, ${counts.kills} kills, ${counts.waits} waits\n`);
    },
  );

  const behaveWell = (): void => {
    const good = { preparations: 0, validationRequests: 0, losesResponse: () => false, fault: null };
    Object.assign(campaign.server.behavior, good);
  };

  /** Rejects the next file. */
  const rejectFile = (): void => {
    campaign.server.behavior.fault = (path) => {
      if (path === '/data/download') return null;
      campaign.server.behavior.fault = null;
      return { status: 400, body: { message: 'The file is not valid.' } };
    };
  };

  it('continues after a damaged archive, a failed erasure, and a rejected file', async () => {
    behaveWell();
    const id = model.id();
    const device = model.device();
    await campaign.store([device]);
    campaign.server.add({ lists: { MAID: [{ id, hash: hashOf(device) }] } });
    const list = '20260701_4821_MAID.csv';
    const damaged = zipOf(new Map([[list, `ID,Hash\n${id},${hashOf(device)}\n`]]));
    // Damages the compressed content.
    damaged.fill(0xff, 30 + list.length + 20, 30 + list.length + 30);
    const received = new Date('2026-07-01T12:00:00Z');
    const bodyOf = (content: Buffer): Readable => Readable.from([content], { objectMode: false });
    await campaign.deps.spool.save('20260701_4821_DROP.zip', bodyOf(damaged), received);
    await expect(campaign.sync()).rejects.toThrow('has a damaged file. It is stored.');
    const found = await campaign.deps.api.download(signal);
    if (found.is !== 'content') throw new Error(found.is);
    await campaign.deps.spool.save('20260701_4821_DROP.zip', found.body);

    expect(await campaign.sync()).toMatchObject({ for: 'erasure' });
    const failed = `UPDATE erasure SET status = 3, failure_detail = 'The list was lost.' WHERE status NOT IN (2, 3)`;
    expect((await withDatabase(campaign.stores, (client) => client.query(failed))).rowCount).toBe(1);
    expect(await campaign.sync()).toMatchObject({ for: 'erasure' });
    await campaign.erase();
    rejectFile();
    await expect(campaign.sync()).rejects.toThrow('The file is not valid.');
    expect(await campaign.finish()).toMatchObject({ is: 'done' });
    expect([...last().answers]).toEqual([[id, ['3']]]);
    const [cycle] = await campaign.deps.cycles.list(1);
    expect(cycle).toMatchObject({
      devicesFound: 1,
      downloadedAt: received,
      archive: { name: '20260701_4821_DROP.zip' },
    });
    expect(await campaign.deps.cycles.findProof(cycle?.id ?? 0)).toMatchObject({
      archive_sha256: campaign.deps.digest(last().archive),
      devices_erased: 1,
      uploads: [{ name: `${last().prefix}_MAID_r2.csv` }],
    });
  });

  it('amends answers, but only those in the given cycle', async () => {
    behaveWell();
    const { behavior } = campaign.server;
    const [one, two] = [model.id(), model.id()];
    campaign.server.add({ lists: { MAID: [one, two].map((id) => ({ id, hash: hashOf(model.device()) })) } });
    const outcome = await campaign.finish();
    const cycleId = outcome.is === 'done' ? outcome.cycleId : 0;
    await expect(amendAnswers(campaign.deps, cycleId, `Id,Status\n${model.id()},2\n`, signal)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await amendAnswers(campaign.deps, cycleId, `Id,Status\n${one},2\n`, signal)).toMatch(/_MAID_amend1\.csv$/);
    // The response to the next one is lost.
    behavior.losesResponse = () => true;
    await expect(amendAnswers(campaign.deps, cycleId, `Id,Status\n${two},4\n`, signal)).rejects.toMatchObject({
      code: 'unavailable',
    });
    behavior.losesResponse = () => false;
    expect(await amendAnswers(campaign.deps, cycleId, `Id,Status\n${one},5\n`, signal)).toMatch(/_MAID_amend3\.csv$/);
    rejectFile();
    await expect(amendAnswers(campaign.deps, cycleId, `Id,Status\n${one},3\n`, signal)).rejects.toThrow(
      'The file is not valid.',
    );
    expect(await amendAnswers(campaign.deps, cycleId, `Id,Status\n${one},4\n`, signal)).toMatch(/_MAID_amend5\.csv$/);
    expect(Object.fromEntries(last().answers)).toEqual({ [one]: ['5', '2', '5', '4'], [two]: ['5', '4'] });
    expect(last().problems).toEqual([]);
  });
});
