import { type ZodTypeProvider, serializerCompiler, validatorCompiler } from '@fastify/type-provider-zod';
import Fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Dependency, addReady } from './health.ts';

describe('/health/ready', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  const apiWith = (...dependencies: Dependency[]) => {
    const api = Fastify().withTypeProvider<ZodTypeProvider>();
    api.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
    addReady(api, dependencies);
    return api;
  };

  it('asks the servers once for all who ask within a fifth of a second', async () => {
    let asked = 0;
    const check = async (): Promise<void> => {
      asked += 1;
      await Promise.resolve();
    };
    const api = apiWith({ name: 'postgres', isNeededByRequests: true, check });
    const askMany = async (): Promise<Set<number>> =>
      new Set(
        (await Promise.all(Array.from({ length: 50 }, () => api.inject('/health/ready')))).map((a) => a.statusCode),
      );
    expect([await askMany(), asked]).toEqual([new Set([200]), 1]);
    vi.advanceTimersByTime(199);
    expect([await askMany(), asked]).toEqual([new Set([200]), 1]);
    vi.advanceTimersByTime(1);
    expect([await askMany(), asked]).toEqual([new Set([200]), 2]);
    await api.close();
  });

  it('is 503 only when a server is away without which no request can be answered', async () => {
    const away = () => Promise.reject(new Error('away'));
    const there = () => Promise.resolve();
    for (const [postgres, engine, status] of [
      [there, away, 200],
      [away, there, 503],
    ] as const) {
      const api = apiWith(
        { name: 'postgres', isNeededByRequests: true, check: postgres },
        { name: 'clickhouse', isNeededByRequests: false, check: engine },
      );
      const answer = await api.inject('/health/ready');
      const states = {
        postgres: postgres === away ? 'unavailable' : 'ok',
        clickhouse: engine === away ? 'unavailable' : 'ok',
      };
      expect([answer.statusCode, answer.json()]).toMatchObject([status, { dependencies: states }]);
      await api.close();
    }
  });
});
