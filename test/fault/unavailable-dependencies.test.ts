import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { type Proxy, type Trouble, slowDown } from '../support/proxy.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { FaultPartner } from './fault-partner.ts';
import { type TestCluster, startTestCluster } from './test-cluster.ts';

/** Long enough for several attempts; and longer than it takes until a server that stands still is believed to be away. */
const secondsOf = (trouble: Trouble): number => (trouble.is === 'stalled' ? 30 : 10);

describe('while a server is away', () => {
  let cluster: TestCluster;
  let partner: FaultPartner;
  beforeAll(async () => {
    cluster = await startTestCluster('away', { topology: 'two', workers: 2 });
    partner = await cluster.newPartner();
  });
  afterAll(() => cluster.stop());

  const ask = async (): Promise<void> => {
    const [a] = partner.attributes;
    await partner.importFiles('merge', [[{ device: device(partner.asked.length), isDelete: false, attributes: [a] }]]);
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

  const troubles: [string, Trouble][] = [
    ['is cut off', { is: 'cut' }],
    ['stands still', { is: 'stalled' }],
  ];
  it.each(troubles)('a storage that %s makes jobs wait, and none fail', async (_how, trouble) => {
    await whileItIs([cluster.proxies.storage], trouble, async () => {
      for (let n = 0; n < 3; n++) await ask();
      const dependencies = { postgres: 'ok', clickhouse: 'ok', bucket: 'unavailable' };
      expect(await readiness(), 'requests are answered').toEqual([200, { status: 'ok', dependencies }]);
    });
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });

  it('a storage that wants us to slow down makes jobs wait, and none fail', async () => {
    await whileItIs([cluster.proxies.storage], slowDown, ask);
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });

  it.each(troubles)('an engine that %s makes jobs wait, and none fail', async (_how, trouble) => {
    await whileItIs(cluster.proxies.engine, trouble, async () => {
      for (let n = 0; n < 3; n++) await ask();
      const dependencies = { postgres: 'ok', clickhouse: 'unavailable', bucket: 'ok' };
      expect(await readiness(), 'requests are answered').toEqual([200, { status: 'ok', dependencies }]);
    });
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });

  it('one shard that is cut off makes jobs wait, and none fail', async () => {
    await whileItIs(cluster.proxies.engine.slice(1), { is: 'cut' }, ask);
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });

  it.each(troubles)(
    'a PostgreSQL that %s is answered with 503 and Retry-After, and all goes on afterwards',
    async (_how, trouble) => {
      await ask();
      await whileItIs([cluster.proxies.postgres], trouble, async () => {
        const answer = await fetch(`${cluster.url}/v1/marketplace/import`, {
          headers: { authorization: `Bearer inlet_${'x'.repeat(32)}` },
        });
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
        const dependencies = { postgres: 'unavailable', clickhouse: 'ok', bucket: 'ok' };
        expect(await readiness()).toEqual([503, { status: 'unavailable', dependencies }]);
      });
      await ask();
      expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
    },
  );

  it('a PostgreSQL that is cut off at any moment of a job ends no process', async () => {
    for (let n = 0; n < 15; n++) {
      await ask();
      await pause(Math.random() * 300); // the moment
      cluster.proxies.postgres.make({ is: 'cut' });
      await pause(200); // how long it is away
      cluster.proxies.postgres.make({ is: 'none' });
      await waitUntil('the api reads again', async () => (await fetch(`${cluster.url}/health/ready`)).ok);
    }
    expect(await cluster.auditAtEnd([partner], 120)).toEqual([]);
  });
});
