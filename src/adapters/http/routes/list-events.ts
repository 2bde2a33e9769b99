import { z } from 'zod';
import { type LoggedEvent, eventDays, eventRecord, hiddenTypes } from '../../../domain/event.ts';
import type { Failure } from '../../../domain/failure.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { EventWait } from '../../../usecases/follow/event-waits.ts';
import type { FollowedRecords } from '../../../usecases/follow/followed-records.ts';
import { recheckAccess } from '../access-recheck.ts';
import { callerOf, scopeOf } from '../authentication.ts';
import { beginWait, closeOnDisconnect, readWait } from '../conditional-get.ts';
import { invalidQuery } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { eventExample, eventSchema } from '../records/event.ts';
import { pageOf, readCursor } from '../paging.ts';
import { pageQuery } from '../schemas.ts';

const maxEvents = 1000;

/** While a request waits, the log is also read at this interval, because notifications can be missed. */
const pollEveryMs = 5_000;

export const eventListSchema = z.array(eventSchema).max(maxEvents);

const sequenceError = 'after must be a whole number from 0 to 999,999,999,999,999.';

export const listEvents = defineRoute({
  id: 'listEvents',
  tag: 'events',
  method: 'GET',
  path: '/v1/events',
  scope: ['marketplace:read', 'audience:read'],
  summary: 'List events',
  description: `Lists what has happened since an event that you know, oldest first. To continue, pass the last \`sequence\` as \`after\`. With \`order=desc\`, lists the newest events first, and the \`Link\` header leads to older ones. Without a user token, also lists the events of all your customers. With one, lists only the events of that customer's audiences. Events of imports, deletes, and subscriptions need the scope \`marketplace:read\`, events of audiences and reports \`audience:read\`, and events of webhooks \`webhooks:write\`. Events are deleted after ${eventDays} days.`,
  query: pageQuery(maxEvents, 100).extend({
    // A coerced number would read an empty value as 0, so a client that lost its position would get all events again.
    after: z
      .string({ error: sequenceError })
      .regex(/^\d{1,15}$/, { error: sequenceError })
      .transform(Number)
      .default(0)
      .meta({
        description:
          'The `sequence` of the last event that you know. By default, the list starts with the oldest event.',
        examples: [41],
      }),
    order: z
      .enum(['asc', 'desc'])
      .default('asc')
      .meta({ description: '`asc` for the oldest events first, `desc` for the newest.', examples: ['asc'] }),
  }),
  headers: {
    Prefer: {
      description:
        '`wait=N` (RFC 7240) enables long polling: if there are no new events, the response is sent when an event is logged, or after N seconds (maximum 60). `Preference-Applied` confirms that the server waited. When too many clients are waiting, the server responds immediately without that header.',
      example: 'wait=10',
    },
  },
  response: {
    status: 200,
    description: 'The next events. The list is empty if there are none.',
    schema: eventListSchema,
    example: [eventExample],
    isPaged: true,
  },
  problems: invalidQuery('after', sequenceError),
  handler:
    (deps: { readonly events: EventLog; readonly following: Pick<FollowedRecords, 'events'> }) =>
    async (request, reply) => {
      const { after, limit, order, cursor } = request.query;
      const list = `events-${order}`;
      const [from] = readCursor(cursor, list, 1);
      const scope = scopeOf(request);
      const hidden = hiddenTypes(callerOf(request).scopes);
      const bounds =
        order === 'asc'
          ? { after: Math.max(after, from ?? 0) }
          : { after, newestBefore: from ?? Number.MAX_SAFE_INTEGER };
      const read = (): Promise<readonly LoggedEvent[]> =>
        deps.events.list(scope, { ...bounds, limit: limit + 1, hidden });
      const page = (items: readonly LoggedEvent[]): ReturnType<typeof eventRecord>[] =>
        pageOf(request, reply, { list, limit, items }, ({ sequence }) => [sequence]).map(eventRecord);
      const seconds = readWait(request.headers['prefer']?.toString());
      const wait = seconds === null ? null : deps.following.events.follow(scope);
      if (!wait || seconds === null) return page(await read());
      reply.header('preference-applied', `wait=${seconds}`);
      closeOnDisconnect(reply, wait);
      const denials: Failure[] = [];
      const onDenied = (denial: Failure): void => {
        denials.push(denial);
        wait.close();
      };
      recheckAccess(request, { isOver: wait.isOver, onDenied });
      const endWait = beginWait(request);
      try {
        const events = await readUntilAny(read, wait, seconds * 1000);
        for (const denial of denials) throw denial;
        // The process is shutting down, so the client must reconnect to another process.
        if (wait.isOver()) reply.header('connection', 'close');
        return page(events);
      } finally {
        endWait();
        wait.close();
      }
    },
});

async function readUntilAny(
  read: () => Promise<readonly LoggedEvent[]>,
  wait: EventWait,
  milliseconds: number,
): Promise<readonly LoggedEvent[]> {
  const end = performance.now() + milliseconds;
  for (;;) {
    const events = await read();
    const left = end - performance.now();
    if (events.length > 0 || left <= 0 || wait.isOver()) return events;
    await wait.next(Math.min(left, pollEveryMs));
  }
}
