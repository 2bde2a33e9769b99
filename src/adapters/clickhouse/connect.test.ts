import { afterAll, describe, expect, it } from 'vitest';
import { Secret } from '../../domain/secret.ts';
import {
  type Engine,
  type Server,
  closeEngine,
  connectEngine,
  onAllServers,
  onAvailableServers,
  onEveryShard,
  onEveryShardOnce,
} from './connect.ts';

const shard = [new Secret('http://localhost')];
const engine = connectEngine({ shards: [shard, shard], database: 'd', cluster: 'c', name: 'test' });
afterAll(() => closeEngine(engine));

describe.each([
  ['onEveryShard', onEveryShard],
  [
    'onEveryShardOnce',
    (all: Engine, run: (shard: Server, index: number) => Promise<void>) => onEveryShardOnce(all, [], run),
  ],
  ['onAvailableServers', onAvailableServers],
  ['onAllServers', onAllServers],
] as const)('%s', (_, runOn) => {
  it('waits for the statements of the other shards when one shard fails', async () => {
    let isRunning = true;
    const run = async (_server: Server, index: number): Promise<void> => {
      if (index === 0) throw new Error('shard 0 failed');
      await new Promise((resolve) => setTimeout(resolve, 20));
      isRunning = false;
    };
    await expect(runOn(engine, run)).rejects.toThrow('shard 0 failed');
    expect(isRunning).toBe(false);
  });
});
