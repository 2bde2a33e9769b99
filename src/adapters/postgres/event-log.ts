import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { splits } from '../../domain/composition/counts.ts';
import { type EventContent, type LoggedEvent, disabledReasons, eventDays, eventTypes } from '../../domain/event.ts';
import type { PartnerId } from '../../domain/ids.ts';
import { rotationHours } from '../../domain/webhook.ts';
import type { EventLog, EventPage, NewEvent } from '../../ports/event-log.ts';
import type { AudienceScope } from '../../domain/audience.ts';
import type { Database, Tx } from './db/tables.ts';

/** The number of rows that are deleted at a time, so that no transaction takes long. */
const deletedAtATime = 10_000;
/** One call deletes at most a million rows of each kind. Later calls delete the rest. */
const maxBatches = 100;

export function postgresEventLog(db: Database): EventLog {
  return {
    list: (scope, page) => selectEvents(db, scope, page),
    removeExpired: (signal) => removeExpired(db, signal),
  };
}

async function removeExpired(db: Database, signal: AbortSignal): Promise<void> {
  const inBatches = async (statement: RawBuilder<unknown>): Promise<void> => {
    for (let batch = 0; batch < maxBatches && !signal.aborted; batch += 1) {
      const { numAffectedRows } = await statement.execute(db);
      if ((numAffectedRows ?? 0n) < deletedAtATime) return;
    }
  };
  await inBatches(sql`DELETE FROM event WHERE (partner_id, sequence) IN (
    SELECT partner_id, sequence FROM event WHERE created_at < now() - make_interval(days => ${eventDays})
    ORDER BY created_at LIMIT ${deletedAtATime} FOR UPDATE SKIP LOCKED)`);
  // Without this, the webhook would be claimed for these events again and again.
  await inBatches(sql`UPDATE webhook_delivery SET next_attempt_at = NULL WHERE (webhook_id, sequence) IN (
    SELECT d.webhook_id, d.sequence FROM webhook_delivery d
    WHERE d.next_attempt_at IS NOT NULL AND NOT EXISTS (
      SELECT FROM event WHERE event.partner_id = d.partner_id AND event.sequence = d.sequence)
    LIMIT ${deletedAtATime} FOR UPDATE SKIP LOCKED)`);
  await inBatches(sql`DELETE FROM webhook_delivery WHERE (webhook_id, sequence) IN (
    SELECT webhook_id, sequence FROM webhook_delivery WHERE updated_at < now() - make_interval(days => ${eventDays})
    ORDER BY updated_at LIMIT ${deletedAtATime} FOR UPDATE SKIP LOCKED)`);
  await inBatches(sql`DELETE FROM webhook_delivery WHERE (webhook_id, sequence) IN (
    SELECT d.webhook_id, d.sequence FROM webhook JOIN webhook_delivery d ON d.webhook_id = webhook.id
    WHERE webhook.deleted_at IS NOT NULL LIMIT ${deletedAtATime} FOR UPDATE OF d SKIP LOCKED)`);
  // All deliveries of a webhook are deleted together with it, in one statement.
  await sql`DELETE FROM webhook WHERE deleted_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM webhook_delivery d WHERE d.webhook_id = webhook.id)`.execute(db);
  await sql`DELETE FROM webhook_secret old WHERE EXISTS (
    SELECT FROM webhook_secret next WHERE next.webhook_id = old.webhook_id AND next.id > old.id
      AND next.created_at < now() - make_interval(hours => ${rotationHours}))`.execute(db);
}

/**
 * The columns of `toLoggedEvent`. `event` is the event, and `customer` its customer or null. Events from the previous
 * release do not contain the name of the customer.
 */
export const eventColumns: RawBuilder<EventRow> = sql`
  event.sequence, event.type, event.data, event.created_at, coalesce(event.data->>'customer', customer.name) AS customer,
  'evt_' || replace(coalesce(event.id, md5(event.partner_id || ':' || event.sequence)::uuid)::text, '-', '') AS id`;

export type EventRow = {
  readonly id: string;
  readonly sequence: number;
  readonly type: string;
  readonly data: unknown;
  readonly created_at: Date;
  readonly customer: string | null;
};

async function selectEvents(
  db: Database,
  { partnerId, customerId }: AudienceScope,
  { after, limit, newestBefore, hidden }: EventPage,
): Promise<LoggedEvent[]> {
  const { rows } = await sql<EventRow>`
    SELECT ${eventColumns}
    FROM event LEFT JOIN customer ON customer.id = event.customer_id
    WHERE event.partner_id = ${partnerId} AND event.sequence > ${after}
      AND (${customerId}::bigint IS NULL OR event.customer_id = ${customerId})
      AND event.type <> ALL (${hidden}::text[])
      ${newestBefore === undefined ? sql`` : sql`AND event.sequence < ${newestBefore} AND event.type = ANY (${eventTypes}::text[])`}
    ORDER BY event.sequence ${newestBefore === undefined ? sql`ASC` : sql`DESC`} LIMIT ${limit}`.execute(db);
  return toLoggedEvents(rows);
}

/**
 * Returns the events before the first one whose type is unknown to this release. A later release logged that event. If
 * it were skipped, the caller would never see it.
 */
export function toLoggedEvents(rows: readonly EventRow[]): LoggedEvent[] {
  const events: LoggedEvent[] = [];
  for (const row of rows) {
    const event = toLoggedEvent(row);
    if (event === null) break;
    events.push(event);
  }
  return events;
}

/** Returns null if the type is unknown to this release. */
export function toLoggedEvent({ id, sequence, customer, created_at, type, data }: EventRow): LoggedEvent | null {
  const content = contentSchema.safeParse({ type, data });
  return content.success ? { ...content.data, id, sequence, customer, createdAt: created_at } : null;
}

export async function appendEvent(tx: Tx, event: NewEvent): Promise<number> {
  return appendEvents(tx, event, [event]);
}

/**
 * Appends events in one statement and returns the sequence number of the last one. The lock on the partner's counter
 * ensures that events are numbered in commit order. The data contains the name that the customer has now, because an event
 * must not change after it was sent. Call this after all other statements that wait for locks, except
 * those that send tokens: the lock is held until the transaction ends.
 */
export async function appendEvents(
  tx: Tx,
  { partnerId, customerId }: { readonly partnerId: PartnerId; readonly customerId: number | null },
  events: readonly EventContent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const { rows } = await sql<{ last_sequence: number }>`
    WITH counter AS (
      INSERT INTO event_counter AS c (partner_id, last_sequence) VALUES (${partnerId}, ${events.length})
      ON CONFLICT (partner_id) DO UPDATE SET last_sequence = c.last_sequence + ${events.length}
      RETURNING last_sequence
    ), appended AS (
      INSERT INTO event (partner_id, sequence, customer_id, type, data)
      SELECT ${partnerId}, counter.last_sequence - ${events.length} + new.place, ${customerId}::bigint, new.type,
        new.data::jsonb || ${customerId === null ? sql`'{}'` : sql`jsonb_build_object('customer', (SELECT name FROM customer WHERE id = ${customerId}))`}
      FROM counter, unnest(
        ${events.map(({ type }) => type)}::text[], ${events.map(({ data }) => JSON.stringify(data))}::text[]
      ) WITH ORDINALITY AS new (type, data, place)
    )
    SELECT last_sequence FROM counter`.execute(tx);
  return rows[0]?.last_sequence ?? 0;
}

const ofAudience = { audienceId: z.int(), warehouseSegmentId: z.int() };
const ofJob = { importLogId: z.int(), totalRows: z.int(), code: z.string().nullable() };
const ofRejects = { rows: z.int(), code: z.string().nullable() };
const ended = { status: z.literal([2, 3]) };
const ofWebhook = { webhookId: z.int() };

const contentSchema: z.ZodType<EventContent> = z.union([
  z.object({
    type: z.literal(['import.finished', 'import.failed']),
    data: z.object({ ...ofJob, files: z.int(), failedFiles: z.int() }),
  }),
  z.object({ type: z.literal(['delete.finished', 'delete.failed']), data: z.object(ofJob) }),
  z.object({
    type: z.literal(['import.rejects.finished', 'import.rejects.failed']),
    data: z.object({ ...ofRejects, importLogId: z.int(), files: z.int(), failedFiles: z.int() }),
  }),
  z.object({
    type: z.literal(['audience.rejects.finished', 'audience.rejects.failed']),
    data: z.object({ ...ofRejects, ...ofAudience, fileId: z.string() }),
  }),
  z.object({
    type: z.literal('audience.file.finished'),
    data: z.object({
      ...ofAudience,
      ...ended,
      fileId: z.string(),
      s3Path: z.string(),
      totalRows: z.int(),
      code: z.string().nullable(),
    }),
  }),
  z.object({ type: z.literal('audience.ready'), data: z.object({ ...ofAudience, ...ended }) }),
  z.object({ type: z.literal(['audience.cleared', 'audience.deleted']), data: z.object(ofAudience) }),
  z.object({
    type: z.literal('report.ready'),
    data: z.object({ ...ofAudience, split: z.enum(splits).nullable() }),
  }),
  z.object({ type: z.literal('subscription.too_many_objects'), data: z.object({ subscriptionId: z.int() }) }),
  z.object({ type: z.literal(['webhook.test', 'webhook.failing']), data: z.object(ofWebhook) }),
  z.object({
    type: z.literal('webhook.disabled'),
    data: z.object({ ...ofWebhook, reason: z.enum(disabledReasons) }),
  }),
]);
