import Fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Api } from '../api.ts';
import { addRoute } from '../operation.ts';
import { serializerCompiler, validatorCompiler } from '../validation.ts';
import { type Dependency, getReady } from './health.ts';

describe('/health/ready', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  const apiWith = (...dependencies: Dependency[]) => {
    const api: Api = Fastify();
    api.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
    addRoute(api, { dependencies }, getReady);
    return api;
  };

  it('checks the dependencies at most once every 200 ms', async () => {
    let checks = 0;
    const check = async (): Promise<void> => {
      checks += 1;
      await Promise.resolve();
    };
    const api = apiWith({ name: 'postgres', isNeededByRequests: true, check });
    const requestMany = async (): Promise<Set<number>> =>
      new Set(
        (await Promise.all(Array.from({ length: 50 }, () => api.inject('/health/ready')))).map((a) => a.statusCode),
      );
    expect([await requestMany(), checks]).toEqual([new Set([200]), 1]);
    vi.advanceTimersByTime(199);
    expect([await requestMany(), checks]).toEqual([new Set([200]), 1]);
    vi.advanceTimersByTime(1);
    expect([await requestMany(), checks]).toEqual([new Set([200]), 2]);
    await api.close();
  });

  it('returns 503 only if a dependency that requests need is unavailable', async () => {
    const down = () => Promise.reject(new Error('connection refused'));
    const up = () => Promise.resolve();
    for (const [postgres, engine, status] of [
      [up, down, 200],
      [down, up, 503],
    ] as const) {
      const api = apiWith(
        { name: 'postgres', isNeededByRequests: true, check: postgres },
        { name: 'clickhouse', isNeededByRequests: false, check: engine },
      );
      const answer = await api.inject('/health/ready');
      const states = {
        postgres: postgres === down ? 'unavailable' : 'ok',
        clickhouse: engine === down ? 'unavailable' : 'ok',
      };
      expect([answer.statusCode, answer.json()]).toMatchObject([status, { dependencies: states }]);
      await api.close();
    }
  });
});
