import type { PostgresPool } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { CallerScope } from '../../ports/caller-scope.ts';
import { currentCaller } from './caller.ts';

/** Read by the policies of the migration `row-security`. For the session: it is told once, and not again while the caller is the same. */
const tell = `SELECT set_config('inlet.partner', $1, false), set_config('inlet.customer', $2, false)`;

/**
 * Connections that speak for whoever the running code works for. Each time one is taken, it is made sure that PostgreSQL
 * knows for whom; one that cannot be told is closed. Without a caller a connection comes from the door, where none was ever
 * told of a caller. So a request costs one short statement more when the connection spoke for another before, else none;
 * and strangers who try keys do not take the connections of those who have one.
 */
export function callersPool(door: Pool, rooms: Pool): PostgresPool {
  const told = new WeakMap<PoolClient, string>();
  return {
    options: rooms.options,
    connect: async () => {
      const caller = currentCaller();
      if (!caller) return door.connect();
      const client = await rooms.connect();
      const words = wordsOf(caller);
      if (told.get(client) === words.join(' ')) return client;
      told.delete(client);
      try {
        await client.query(tell, words);
      } catch (error) {
        client.release(true);
        throw error;
      }
      told.set(client, words.join(' '));
      return client;
    },
    end: async () => {
      await Promise.all([door.end(), rooms.end()]);
    },
  };
}

function wordsOf({ partnerId, customerId }: CallerScope): string[] {
  return [String(partnerId), customerId === null ? '' : String(customerId)];
}
