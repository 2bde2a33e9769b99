import type { SelectableEventType, Webhook, WebhookDelivery } from '@inlet/sdk';
import { type Command, Option } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { countOf, timeOf } from '../terminal/format.ts';
import { outputFor } from '../terminal/output.ts';
import { type Column, table } from '../terminal/table.ts';
import { toId, wholeNumber } from './arguments.ts';

type EventTypes = NonNullable<Webhook['event_types']>;

const webhookColumns: readonly Column<Webhook>[] = [
  { title: 'ID', align: 'right', of: ({ webhook_id }) => webhook_id },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'PENDING', align: 'right', of: ({ pending_events }) => countOf(pending_events) },
  { title: 'EVENTS', of: ({ event_types }) => describeTypes(event_types), canShrink: true },
  { title: 'URL', of: ({ url }) => url, canShrink: true },
  { title: 'DESCRIPTION', of: ({ description }) => description, canShrink: true },
];

const describeTypes = (types: EventTypes | null): string => types?.join(', ') ?? 'all';

const deliveryColumns: readonly Column<WebhookDelivery>[] = [
  { title: 'SEQUENCE', align: 'right', of: ({ sequence }) => sequence },
  { title: 'TYPE', of: ({ event_type }) => event_type },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'ATTEMPTS', align: 'right', of: ({ attempts }) => attempts.length },
  { title: 'LAST', of: ({ attempts }) => lastResult(attempts.at(-1)) },
  { title: 'NEXT', of: ({ next_attempt_at: next }) => (next === null ? '-' : timeOf(next)) },
];

function lastResult(attempt: WebhookDelivery['attempts'][number] | undefined): string {
  if (!attempt) return '-';
  return attempt.status === null ? (attempt.error ?? '-') : `HTTP ${attempt.status}`;
}

type UpdateOptions = CommonOptions & {
  readonly url?: string;
  readonly event?: string[];
  readonly allEvents?: true;
  readonly description?: string;
};

const keepSecret = 'Store the secret now. It is not shown again.';

export function addWebhooksCommand(program: Command): void {
  const webhooks = program.command('webhooks').description('manage the endpoints that receive your events');

  partnerCommand(webhooks, 'create', {
    description: 'create a webhook and show its secret',
    examples: [
      ['inlet webhooks create https://example.com/hooks/inlet', 'Send all events to this URL.'],
      [
        'inlet webhooks create https://example.com/hooks/inlet --event import.finished import.failed',
        'Send only the events of finished and failed imports.',
      ],
    ],
  })
    .argument('<url>', 'URL that starts with https://')
    .option('--event <types...>', 'event types (default: all)')
    .option('--description <text>', 'a note for yourself')
    .action(
      async (
        url: string,
        {
          event,
          description,
          ...options
        }: CommonOptions & { readonly event?: string[]; readonly description?: string },
      ) => {
        const output = outputFor(options);
        const inlet = await connect(options);
        const created = valueOf(
          await inlet.createWebhook({
            url,
            description,
            event_types: event === undefined ? undefined : await toTypes(event),
          }),
        );
        output.result(created, () => `webhook ${created.webhook_id} has the secret ${created.secret}`);
        output.note(keepSecret);
        output.note(`Send a test event: inlet webhooks test ${created.webhook_id}`);
      },
    );

  partnerCommand(webhooks, 'list', {
    description: 'list your webhooks',
    examples: [['inlet webhooks list', 'List your webhooks and their state.']],
  }).action(async (options: CommonOptions) => {
    const output = outputFor(options);
    const inlet = await connect(options);
    const found = valueOf(await inlet.listWebhooks());
    output.result(found, () =>
      found.length === 0 ? 'There are no webhooks.' : table(webhookColumns, found, output.stdout),
    );
    for (const webhook of found.filter(({ status }) => status === 'failing'))
      output.note(`webhook ${webhook.webhook_id} has been failing since ${webhook.failing_since}`);
  });

  partnerCommand(webhooks, 'test', {
    description: 'send a test event to a webhook',
    examples: [['inlet webhooks test 1', 'Send a test event to webhook 1.']],
  })
    .argument('<id>', 'webhook ID')
    .action(async (text: string, options: CommonOptions) => {
      const output = outputFor(options);
      const id = toId('webhook', text);
      const inlet = await connect(options);
      const { sequence } = valueOf(await inlet.testWebhook(id));
      output.result({ webhook_id: id, sequence }, () => `event ${sequence} will be sent to webhook ${id}`);
      output.note(`See the result: inlet webhooks deliveries ${id}`);
    });

  partnerCommand(webhooks, 'deliveries', {
    description: 'list the events that were sent to a webhook, newest first',
    examples: [['inlet webhooks deliveries 1 --status failed', 'List the events that were not delivered.']],
  })
    .argument('<id>', 'webhook ID')
    .addOption(
      new Option('--status <status>', 'list only events with this delivery status').choices([
        'pending',
        'delivered',
        'failed',
      ]),
    )
    .option('--limit <number>', 'maximum number of events, up to 1000', wholeNumber(1, 1000), 20)
    .action(
      async (
        text: string,
        {
          status,
          limit,
          ...options
        }: CommonOptions & { readonly status?: WebhookDelivery['status']; readonly limit: number },
      ) => {
        const output = outputFor(options);
        const id = toId('webhook', text);
        const inlet = await connect(options);
        const found = valueOf(await inlet.listWebhookDeliveries(id, { query: { limit, status } }));
        output.result(found, () =>
          found.length === 0 ? 'There are no deliveries.' : table(deliveryColumns, found, output.stdout),
        );
      },
    );

  partnerCommand(webhooks, 'replay', {
    description: 'send events to a webhook again',
    examples: [
      ['inlet webhooks replay 1 --sequence 42', 'Send event 42 again.'],
      ['inlet webhooks replay 1 --after 41', 'Send all events after event 41 again.'],
    ],
  })
    .argument('<id>', 'webhook ID')
    .option('--sequence <number>', 'send one event', wholeNumber(1, 999_999_999_999_999))
    .addOption(
      new Option('--after <number>', 'send all events after this one')
        .argParser(wholeNumber(0, 999_999_999_999_999))
        .conflicts('sequence'),
    )
    .action(
      async (
        text: string,
        { sequence, after, ...options }: CommonOptions & { readonly sequence?: number; readonly after?: number },
      ) => {
        const output = outputFor(options);
        const id = toId('webhook', text);
        if (sequence === undefined && after === undefined)
          throw wrongUse('No events are specified.', 'Pass --sequence <number> or --after <number>.');
        const inlet = await connect(options);
        valueOf(await inlet.replayEvents(id, { sequence, after }));
        const what = sequence === undefined ? `all events after ${after}` : `event ${sequence}`;
        output.result({ webhook_id: id, sequence, after }, () => `${what} will be sent to webhook ${id} again`);
      },
    );

  partnerCommand(webhooks, 'rotate', {
    description: 'create a new secret; for 24 hours, events are also signed with the old one',
    examples: [['inlet webhooks rotate 1', 'Show a new secret for webhook 1.']],
  })
    .argument('<id>', 'webhook ID')
    .action(async (text: string, options: CommonOptions) => {
      const output = outputFor(options);
      const id = toId('webhook', text);
      const inlet = await connect(options);
      const { secret } = valueOf(await inlet.rotateWebhookSecret(id));
      output.result({ webhook_id: id, secret }, () => `webhook ${id} has the secret ${secret}`);
      output.note(keepSecret);
    });

  partnerCommand(webhooks, 'update', {
    description: 'change the URL, the event types, or the description of a webhook',
    examples: [
      ['inlet webhooks update 1 --url https://example.com/new', 'Send events, including pending ones, to another URL.'],
      ['inlet webhooks update 1 --all-events', 'Send events of all types.'],
    ],
  })
    .argument('<id>', 'webhook ID')
    .option('--url <url>', 'URL that starts with https://')
    .addOption(new Option('--event <types...>', 'event types').conflicts('allEvents'))
    .option('--all-events', 'send all types, including those added in later releases')
    .option('--description <text>', 'a note for yourself')
    .action(async (text: string, options: UpdateOptions) => {
      const { url, event, allEvents, description } = options;
      const output = outputFor(options);
      const id = toId('webhook', text);
      if ([url, event, allEvents, description].every((value) => value === undefined))
        throw wrongUse('No change is specified.', 'Pass --url, --event, --all-events, or --description.');
      const event_types = allEvents ? null : event && (await toTypes(event));
      const inlet = await connect(options);
      const changed = valueOf(await inlet.updateWebhook(id, { url, description, event_types }));
      output.result(changed, () => table(webhookColumns, [changed], output.stdout));
    });

  for (const [name, enabled, what] of [
    ['enable', true, 'enable a webhook; it then receives the events that it missed'],
    ['disable', false, 'disable a webhook; its events are kept'],
  ] as const) {
    partnerCommand(webhooks, name, {
      description: what,
      examples: [[`inlet webhooks ${name} 1`, `${enabled ? 'Enable' : 'Disable'} webhook 1.`]],
    })
      .argument('<id>', 'webhook ID')
      .action(async (text: string, options: CommonOptions) => {
        const output = outputFor(options);
        const id = toId('webhook', text);
        const inlet = await connect(options);
        const changed = valueOf(await inlet.updateWebhook(id, { enabled }));
        output.result(changed, () => `webhook ${id} is ${changed.status}`);
      });
  }

  partnerCommand(webhooks, 'delete', {
    description: 'delete a webhook and its delivery log',
    examples: [['inlet webhooks delete 1', 'Delete webhook 1.']],
  })
    .argument('<id>', 'webhook ID')
    .action(async (text: string, options: CommonOptions) => {
      const output = outputFor(options);
      const id = toId('webhook', text);
      const inlet = await connect(options);
      valueOf(await inlet.deleteWebhook(id));
      output.result({ webhook_id: id }, () => `webhook ${id} is deleted`);
    });
}

async function toTypes(texts: readonly string[]): Promise<SelectableEventType[]> {
  const { isSelectableEventType, selectableEventTypes } = await import('@inlet/sdk');
  return texts.map((text) => {
    if (isSelectableEventType(text)) return text;
    throw wrongUse(`"${text}" is not an event type.`, `The types are ${selectableEventTypes.join(', ')}.`);
  });
}
