import type { DocumentedFailures } from './operation-documentation.ts';

// What reading and following one record have in common.

export const recordHeaders = {
  'If-None-Match': {
    description: 'Tags that the caller knows (RFC 9110), or `*`. When the record still has one of them: 304, no body.',
    example: 'W/"2jmj7l5rSw0yVb_vlWAYkK"',
  },
  Prefer: {
    description:
      '`wait=N` (RFC 7240): the answer may take up to N seconds, 60 at most. Without `If-None-Match` it comes when the record is final (status 2 or 3), with it when the record has another tag; and after N seconds whatever it is then. `Preference-Applied` says that it was heard: where too many wait, it is answered at once and without.',
    example: 'wait=10',
  },
} as const;

export const notModified = {
  304: { description: 'The record is as the caller knows it.', isTagged: true, isEmpty: true },
} as const;

export const eventHeaders = {
  'Last-Event-ID': {
    description: 'The id of the last event that the caller has: it is not sent again.',
    example: '2jmj7l5rSw0yVb_vlWAYkK',
  },
} as const;

export const nothingToFollow = {
  204: { description: 'The record is final, and the caller has its last event.', isEmpty: true },
} as const;

export const tooManyStreams: DocumentedFailures = {
  too_many_streams: { detail: 'There is no place left for another stream.' },
};

/** What both streams say of themselves. */
export const aboutEvents =
  'Server-sent events: `progress` with the record as `GET` gives it, now and after each change, at most about once a second; then `done` when it is final (status 2 or 3), and the stream ends. The `id` of an event is the tag of the record, without quotes. Every 15 seconds at least there is a comment. A stream ends after some minutes, or with the process: come back with `Last-Event-ID`.';

export function eventsExample(record: { readonly status: number }): string {
  const event = (name: string, id: string, data: object): string =>
    `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
  return [
    'retry: 1000\n\n',
    event('progress', '2jmj7l5rSw0yVb_vlWAYkK', { ...record, status: 1 }),
    ':\n\n',
    event('done', 'Dj1Zf0bCqXhV8k3mP6rT9w', record),
  ].join('');
}
