import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { FaultPartner } from './fault-partner.ts';
import { startHouse, type House } from './house.ts';
import { slowDown, type Proxy, type Trouble } from '../support/proxy.ts';

/** Long enough for several attempts; and longer than it takes until a server that stands still is believed to be away. */
const secondsOf = (trouble: Trouble): number => (trouble.is === 'stalled' ? 30 : 10);

describe('while a server is away', () => {
  let house: House;
  let partner: FaultPartner;
  beforeAll(async () => {
    house = await startHouse('away', { topology: 'two', workers: 2 });
    partner = await house.newPartner();
  });
  afterAll(() => house.stop());

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
    const answer = await fetch(`${house.url}/health/ready`);
    return [answer.status, await answer.json()];
  };

  const troubles: [string, Trouble][] = [
    ['is cut off', { is: 'cut' }],
    ['stands still', { is: 'stalled' }],
  ];
  it.each(troubles)('a storage that %s makes jobs wait, and none fail', async (_how, trouble) => {
    await whileItIs([house.proxies.storage], trouble, async () => {
      for (let n = 0; n < 3; n++) await ask();
      const dependencies = { postgres: 'ok', clickhouse: 'ok', bucket: 'unavailable' };
      expect(await readiness(), 'requests are answered').toEqual([200, { status: 'ok', dependencies }]);
    });
    expect(await house.auditAtEnd([partner], 120)).toEqual([]);
  });

  it('a storage that wants us to slow down makes jobs wait, and none fail', async () => {
    await whileItIs([house.proxies.storage], slowDown, ask);
    expect(await house.auditAtEnd([partner], 120)).toEqual([]);
  });

  it.each(troubles)('an engine that %s makes jobs wait, and none fail', async (_how, trouble) => {
    await whileItIs(house.proxies.engine, trouble, async () => {
      for (let n = 0; n < 3; n++) await ask();
      const dependencies = { postgres: 'ok', clickhouse: 'unavailable', bucket: 'ok' };
      expect(await readiness(), 'requests are answered').toEqual([200, { status: 'ok', dependencies }]);
    });
    expect(await house.auditAtEnd([partner], 120)).toEqual([]);
  });

  it('one shard that is cut off makes jobs wait, and none fail', async () => {
    await whileItIs(house.proxies.engine.slice(1), { is: 'cut' }, ask);
    expect(await house.auditAtEnd([partner], 120)).toEqual([]);
  });

  it.each(troubles)(
    'a PostgreSQL that %s is answered with 503 and Retry-After, and all goes on afterwards',
    async (_how, trouble) => {
      await ask();
      await whileItIs([house.proxies.postgres], trouble, async () => {
        const answer = await fetch(`${house.url}/v1/marketplace/import`, {
          headers: { authorization: `Bearer inlet_${'x'.repeat(32)}` },
        });
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
        const dependencies = { postgres: 'unavailable', clickhouse: 'ok', bucket: 'ok' };
        expect(await readiness()).toEqual([503, { status: 'unavailable', dependencies }]);
      });
      await ask();
      expect(await house.auditAtEnd([partner], 120)).toEqual([]);
    },
  );

  it('a PostgreSQL that is cut off at any moment of a job ends no process', async () => {
    for (let n = 0; n < 15; n++) {
      await ask();
      await pause(Math.random() * 300); // the moment
      house.proxies.postgres.make({ is: 'cut' });
      await pause(200); // how long it is away
      house.proxies.postgres.make({ is: 'none' });
      await waitUntil('the api reads again', async () => (await fetch(`${house.url}/health/ready`)).ok);
    }
    expect(await house.auditAtEnd([partner], 120)).toEqual([]);
  });
});
