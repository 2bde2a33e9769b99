import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { type Proxy, type Trouble, slowDown } from '../support/proxy.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { FaultPartner } from './fault-partner.ts';
import { type TestCluster, startTestCluster } from './test-cluster.ts';

const inLongRun = inject('campaign') === 'long';
const cutSeconds = inLongRun ? 10 : 4;

/** Long enough for several attempts and for the detection of a stalled server. */
const secondsOf = (trouble: Trouble): number => (trouble.is === 'stalled' ? 30 : cutSeconds);

/** The number of times that PostgreSQL is cut off, each time at a different point in a job. */
const cuts = inLongRun ? 15 : 5;

describe('while a dependency is unavailable', () => {
  let cluster: TestCluster;
  let partner: FaultPartner;
  beforeAll(async () => {
    cluster = await startTestCluster('unavailable-dependencies', { topology: 'two', workers: 2 });
    partner = await cluster.newPartner();
  });
  afterAll(() => cluster.stop());

  const submit = async (): Promise<void> => {
    const [a] = partner.attributes;
    await partner.importFiles('merge', [
      [{ device: device(partner.submitted.length), isDelete: false, attributes: [a] }],
    ]);
  };
  const whileItIs = async (proxies: readonly Proxy[], trouble: Trouble, act: () => Promise<void>): Promise<void> => {
    for (const proxy of proxies) proxy.make(trouble);
    try {
      await act();
      await pause(secondsOf(trouble) * 1000);
    } finally {
      for (const proxy of proxies) proxy.make({ is: 'none' });
    }
  };

  const readiness = async (): Promise<unknown> => {
    const answer = await fetch(`${cluster.url}/health/ready`);
    return [answer.status, await answer.json()];
  };

  /** In the gate, real-servers.test.ts suspends a real server instead. */
  const stalls: [string, Trouble][] = inLongRun ? [['stalls', { is: 'stalled' }]] : [];
  const troubles: [string, Trouble][] = [['is cut off', { is: 'cut' }], ...stalls];
  it.each(troubles)('an object storage that %s delays jobs without failing them', async (_how, trouble) => {
    await whileItIs([cluster.proxies.storage], trouble, async () => {
      for (let n = 0; n < 3; n++) await submit();
      const dependencies = { postgres: 'ok', clickhouse: 'ok', bucket: 'unavailable' };
      expect(await readiness(), 'the API accepts requests').toMatchObject([200, { status: 'ok', dependencies }]);
    });
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });

  it('an object storage that throttles requests delays jobs without failing them', async () => {
    await whileItIs([cluster.proxies.storage], slowDown, submit);
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });

  it.each(troubles)('a ClickHouse cluster that %s delays jobs without failing them', async (_how, trouble) => {
    await whileItIs(cluster.proxies.engine, trouble, async () => {
      for (let n = 0; n < 3; n++) await submit();
      const dependencies = { postgres: 'ok', clickhouse: 'unavailable', bucket: 'ok' };
      expect(await readiness(), 'the API accepts requests').toMatchObject([200, { status: 'ok', dependencies }]);
    });
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });

  it('a ClickHouse shard that is cut off delays jobs without failing them', async () => {
    await whileItIs(cluster.proxies.engine.slice(1), { is: 'cut' }, submit);
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });

  it.each(troubles)(
    'a PostgreSQL server that %s causes 503 with Retry-After until it is available again',
    async (_how, trouble) => {
      await submit();
      await whileItIs([cluster.proxies.postgres], trouble, async () => {
        const answer = await fetch(`${cluster.url}/v1/marketplace/import`, {
          headers: { authorization: `Bearer inlet_${'x'.repeat(32)}` },
        });
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
        const dependencies = { postgres: 'unavailable', clickhouse: 'ok', bucket: 'ok' };
        expect(await readiness()).toMatchObject([503, { status: 'unavailable', dependencies }]);
      });
      await submit();
      expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
    },
  );

  it('a PostgreSQL server that is cut off at any point in a job does not make a process exit', async () => {
    for (let n = 0; n < cuts; n++) {
      await submit();
      await pause((n * 300) / cuts); // Reaches a different point in the job each time.
      cluster.proxies.postgres.make({ is: 'cut' });
      await pause(200); // The duration of the outage.
      cluster.proxies.postgres.make({ is: 'none' });
      await waitUntil('the API is ready again', async () => (await fetch(`${cluster.url}/health/ready`)).ok);
    }
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });
});
