import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { startApi, stopProcess } from '../support/running-service.ts';
import { createStores, withDatabase, type TestStores } from '../support/stores.ts';
import { wireUp, type Wired } from '../support/wired.ts';
import { newFaultPartner, type FaultPartner } from './fault-partner.ts';

// Kills an API process before or after it accepts a request. The request must be stored completely or not at all.

describe('an API process that is killed', () => {
  let stores: TestStores;
  let deps: Wired;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  const state = (partnerId: number): Promise<{ jobs: number; records: number; tokens: number; generation: number }> =>
    withDatabase(stores, async (client) => {
      const { rows } = await client.query<Record<'jobs' | 'records' | 'tokens' | 'generation', string>>(
        `SELECT (SELECT count(*) FROM job WHERE partner_id = $1) AS jobs,
           (SELECT count(*) FROM import_log WHERE partner_id = $1)
             + (SELECT count(*) FROM audience_load WHERE partner_id = $1) AS records,
           (SELECT count(*) FROM pgboss.job WHERE name = 'lane' AND singleton_key = $1::text AND state < 'completed') AS tokens,
           (SELECT coalesce(sum(generation), 0) FROM audience WHERE partner_id = $1) AS generation`,
        [partnerId],
      );
      const [row] = rows;
      return {
        jobs: Number(row?.jobs),
        records: Number(row?.records),
        tokens: Number(row?.tokens),
        generation: Number(row?.generation),
      };
    });

  type Send = (partner: FaultPartner, audienceId: number) => Promise<unknown>;
  const file = { rows: [[device(0), '']], flaw: null } as const;
  const calls: [method: string, change: { jobs?: number; generation?: number }, send: Send][] = [
    ['importLogs.submitImport', { jobs: 1 }, (partner) => partner.importFiles('merge', [])],
    ['importLogs.submitDelete', { jobs: 1 }, (partner) => partner.deleteAttributes([partner.attributes[0]])],
    ['audiences.create', { jobs: 1 }, (partner) => partner.createAudience([file])],
    ['audiences.append', { jobs: 1 }, (partner, audienceId) => partner.append(audienceId, [file])],
    ['audiences.clear', { generation: 1 }, (partner, audienceId) => partner.clear(audienceId)],
  ];

  const chosen = inject('campaign') === 'long' ? calls : calls.slice(-2);
  it.each(chosen)(
    'an API process that is killed at %s stores the request completely or not at all',
    async (method, { jobs = 0, generation = 0 }, send) => {
      const clean = await startApi(stores.environment, 'api-failpoints');
      for (const moment of ['before', 'after']) {
        const environment = { ...stores.environment, INLET_FAILPOINT: `${moment} ${method}` };
        const victim = await startApi(environment, 'api-failpoints-victim');
        const partner = await newFaultPartner(deps, stores, clean.url);
        const audienceId = await partner.createAudience([file]);
        const killed = once(victim.child, 'exit');
        const before = await state(partner.id);
        await expect(send(partner.through(victim.url), audienceId)).rejects.toThrow('fetch failed');
        await killed;
        const isDone = moment === 'after' ? 1 : 0;
        expect(await state(partner.id)).toEqual({
          jobs: before.jobs + isDone * jobs,
          records: before.records + isDone * jobs,
          tokens: 1,
          generation: before.generation + isDone * generation,
        });
        expect(victim.child.signalCode).toBe('SIGKILL');
      }
      await stopProcess(clean.child);
    },
  );
});
