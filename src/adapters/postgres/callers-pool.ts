import type { PostgresPool } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { CallerScope } from '../../ports/caller-scope.ts';
import { currentCaller } from './caller.ts';
import { placesOfPartners } from './places.ts';

/** Read by the policies of the migration `row-security`. For the session: it is told once, and not again while the caller is the same. */
const tell = `SELECT set_config('inlet.partner', $1, false), set_config('inlet.customer', $2, false)`;

/**
 * Connections that speak for whoever the running code works for. Each time one is taken, it is made sure that PostgreSQL
 * knows for whom; one that cannot be told is closed. Without a caller a connection comes from the door, where none was ever
 * told of a caller. So a request costs one short statement more when the connection spoke for another before, else none;
 * and strangers who try keys do not take the connections of those who have one. Nor does one partner take all of them: its
 * requests may wait for each other, as when all want to queue a job.
 */
export function callersPool(door: Pool, rooms: Pool, patienceMs: number): PostgresPool {
  const told = new WeakMap<PoolClient, string>();
  const places = placesOfPartners(Math.ceil(rooms.options.max / 2), patienceMs);

  async function connectInPlace(partnerId: number): Promise<PoolClient> {
    const leave = await places.enter(partnerId);
    try {
      const client = await rooms.connect();
      // The pool makes it anew each time it gives a connection.
      const release = client.release.bind(client);
      client.release = (isBroken) => {
        release(isBroken);
        leave();
      };
      return client;
    } catch (error) {
      leave();
      throw error;
    }
  }

  return {
    options: rooms.options,
    connect: async () => {
      const caller = currentCaller();
      if (!caller) return door.connect();
      const client = await connectInPlace(caller.partnerId);
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
