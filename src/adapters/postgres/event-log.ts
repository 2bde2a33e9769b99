import { sql } from 'kysely';
import { z } from 'zod';
import { splits } from '../../domain/composition/counts.ts';
import { type LoggedEvent, eventDays } from '../../domain/composition/event.ts';
import type { EventLog, NewEvent } from '../../ports/event-log.ts';
import type { Database, Tx } from './db/tables.ts';

/** The number of events that are deleted at a time, so that no transaction takes long. */
const deletedAtATime = 10_000;

export function postgresEventLog(db: Database): EventLog {
  return {
    list: async ({ partnerId, customerId }, { after, limit }) => {
      const rows = await db
        .selectFrom('event')
        .leftJoin('customer', 'customer.id', 'event.customer_id')
        .select(['event.sequence', 'event.type', 'event.data', 'event.created_at', 'customer.name as customer'])
        .where('event.partner_id', '=', partnerId)
        .where('event.sequence', '>', after)
        .$if(customerId !== null, (query) => query.where(sql<boolean>`event.customer_id = ${customerId}`))
        .orderBy('event.sequence')
        .limit(limit)
        .execute();
      const events: LoggedEvent[] = [];
      for (const { sequence, customer, created_at, type, data } of rows) {
        const content = contentSchema.safeParse({ type, data });
        // A later release logged this event. If it were skipped, the caller would never see it.
        if (!content.success) break;
        events.push({ ...content.data, sequence, customer, createdAt: created_at });
      }
      return events;
    },
    removeExpired: async () => {
      await sql`DELETE FROM event WHERE (partner_id, sequence) IN (
        SELECT partner_id, sequence FROM event WHERE created_at < now() - make_interval(days => ${eventDays})
        ORDER BY created_at LIMIT ${deletedAtATime} FOR UPDATE SKIP LOCKED)`.execute(db);
    },
  };
}

/** The lock on the partner's counter ensures that events are numbered in commit order. */
export async function appendEvent(tx: Tx, { partnerId, customerId, type, data }: NewEvent): Promise<void> {
  const { last_sequence: sequence } = await tx
    .insertInto('event_counter')
    .values({ partner_id: partnerId, last_sequence: 1 })
    .onConflict((conflict) =>
      conflict.column('partner_id').doUpdateSet({ last_sequence: sql`event_counter.last_sequence + 1` }),
    )
    .returning('last_sequence')
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('event')
    .values({ partner_id: partnerId, sequence, customer_id: customerId, type, data: JSON.stringify(data) })
    .execute();
}

const contentSchema = z.object({
  type: z.literal('report.ready'),
  data: z.object({
    audienceId: z.int(),
    warehouseSegmentId: z.int(),
    split: z.enum(splits).nullable(),
  }),
});
