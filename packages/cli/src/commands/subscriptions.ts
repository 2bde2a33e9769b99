import type { Subscription, SubscriptionObject } from '@inlet/sdk';
import { type Command, Option } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { bytesOf, countOf, timeOf } from '../terminal/format.ts';
import { outputFor } from '../terminal/output.ts';
import { type Column, table } from '../terminal/table.ts';
import { type KeyTypeOptions, keyTypeOption, readKeyType, toId, wholeNumber } from './arguments.ts';

const subscriptionColumns: readonly Column<Subscription>[] = [
  { title: 'ID', align: 'right', of: ({ subscription_id }) => subscription_id },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'PREFIX', of: ({ prefix }) => prefix, canShrink: true },
  { title: 'IMPORTS', of: ({ trigger }) => describeTrigger(trigger) },
  { title: 'WAITING', align: 'right', of: ({ waiting_objects: waiting }) => countOf(waiting) },
  { title: 'FOR', of: ({ waits_for: reason }) => reason ?? '-' },
  { title: 'LAST IMPORT', align: 'right', of: ({ last_import_log_id: id }) => id ?? '-' },
];

function describeTrigger(trigger: Subscription['trigger']): string {
  if (trigger.marker !== null) return `after ${trigger.marker}`;
  if (trigger.every_seconds !== null) return `every ${trigger.every_seconds} s`;
  if (trigger.daily_at !== null) return `daily at ${trigger.daily_at} UTC`;
  return trigger.quiet_seconds === 0 ? 'immediately' : `after ${trigger.quiet_seconds} s without changes`;
}

const objectColumns: readonly Column<SubscriptionObject>[] = [
  { title: 'PATH', of: ({ path }) => path, canShrink: true },
  { title: 'SIZE', align: 'right', of: ({ size }) => bytesOf(size) },
  { title: 'ARRIVED', of: ({ last_modified: time }) => timeOf(time) },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'IMPORT', align: 'right', of: ({ import_log_id: id }) => id ?? '-' },
  { title: 'ERROR', of: ({ error_code: code }) => code ?? '-' },
];

type TriggerOptions = {
  readonly quietSeconds?: number;
  readonly marker?: string;
  readonly every?: number;
  readonly dailyAt?: string;
};
type CreateOptions = CommonOptions &
  KeyTypeOptions &
  TriggerOptions & {
    readonly compressed?: boolean;
    readonly existing?: boolean;
  };

function withTriggerOptions(command: Command, quietDefault = ''): Command {
  return command
    .addOption(
      new Option('--quiet-seconds <seconds>', `import when nothing has changed for this long${quietDefault}`)
        .argParser(wholeNumber(0, 3_600))
        .conflicts(['marker', 'every', 'dailyAt']),
    )
    .addOption(
      new Option('--marker <name>', 'import a folder when this file is written to it').conflicts(['every', 'dailyAt']),
    )
    .addOption(
      new Option('--every <seconds>', 'import at this interval')
        .argParser(wholeNumber(60, 604_800))
        .conflicts(['dailyAt']),
    )
    .option('--daily-at <time>', 'import once a day at this time in UTC, for example 02:30');
}

function triggerOf({ quietSeconds, marker, every, dailyAt }: TriggerOptions) {
  const given = { quiet_seconds: quietSeconds, marker, every_seconds: every, daily_at: dailyAt };
  return Object.values(given).some((value) => value !== undefined) ? given : undefined;
}

export function addSubscriptionsCommand(program: Command): void {
  const subscriptions = program.command('subscriptions').description('import files automatically when they arrive');

  const create = partnerCommand(subscriptions, 'create', {
    description: 'import the files that arrive under a prefix',
    examples: [
      [
        'inlet subscriptions create daily/ --key-type foreign --compressed',
        'Import the gzipped files that arrive in daily/.',
      ],
      [
        'inlet subscriptions create exports/ --key-type foreign --no-compressed --marker _SUCCESS',
        'Import each folder when the file _SUCCESS is written to it.',
      ],
    ],
  })
    .argument('<prefix>', 'prefix below your own prefix; a folder ends with /')
    .addOption(keyTypeOption())
    .option('--compressed', 'the files are gzipped')
    .option('--no-compressed', 'the files are not gzipped')
    .option('--existing', 'also import the files that exist already');
  withTriggerOptions(create, ' (default: 10)').action(async (prefix: string, options: CreateOptions) => {
    const output = outputFor(options);
    const { compressed } = options;
    if (compressed === undefined)
      throw wrongUse('The compression is not specified.', 'Pass --compressed or --no-compressed.');
    const key_type = await readKeyType(options);
    const inlet = await connect(options);
    const created = valueOf(
      await inlet.createSubscription({
        prefix,
        key_type,
        compressed,
        existing: options.existing === true ? 'import' : 'skip',
        trigger: triggerOf(options),
      }),
    );
    output.result(
      created,
      () => `subscription ${created.subscription_id} imports the files that arrive under ${prefix}`,
    );
    output.note(`See the files that arrive: inlet subscriptions show ${created.subscription_id}`);
  });

  partnerCommand(subscriptions, 'list', {
    description: 'list your subscriptions',
    examples: [['inlet subscriptions list', 'List your subscriptions and what they are waiting for.']],
  }).action(async (options: CommonOptions) => {
    const output = outputFor(options);
    const inlet = await connect(options);
    const found = valueOf(await inlet.listSubscriptions({ query: { limit: 100 } }));
    output.result(found, () =>
      found.length === 0 ? 'There are no subscriptions.' : table(subscriptionColumns, found, output.stdout),
    );
  });

  partnerCommand(subscriptions, 'show', {
    description: 'show a subscription and the files that it has seen, newest first',
    examples: [['inlet subscriptions show 1 --state failed', 'Show the files that could not be imported.']],
  })
    .argument('<id>', 'subscription ID')
    .addOption(
      new Option('--state <state>', 'show only files in this state').choices([
        'waiting',
        'queued',
        'imported',
        'failed',
        'overwritten',
        'deleted',
        'skipped',
        'marker',
      ]),
    )
    .option('--limit <number>', 'maximum number of files, up to 1000', wholeNumber(1, 1000), 20)
    .action(
      async (
        text: string,
        {
          state,
          limit,
          ...options
        }: CommonOptions & { readonly state?: SubscriptionObject['state']; readonly limit: number },
      ) => {
        const output = outputFor(options);
        const id = toId('subscription', text);
        const inlet = await connect(options);
        const subscription = valueOf(await inlet.getSubscription(id));
        const objects = valueOf(await inlet.listSubscriptionObjects(id, { query: { limit, state } }));
        output.result({ ...subscription, objects }, () =>
          [
            table(subscriptionColumns, [subscription], output.stdout),
            objects.length === 0 ? 'No files have arrived.' : table(objectColumns, objects, output.stdout),
          ].join('\n\n'),
        );
      },
    );

  const update = partnerCommand(subscriptions, 'update', {
    description: 'change when the files that arrive are imported',
    examples: [['inlet subscriptions update 1 --daily-at 02:30', 'Import once a day from now on.']],
  }).argument('<id>', 'subscription ID');
  withTriggerOptions(update).action(async (text: string, options: CommonOptions & TriggerOptions) => {
    const output = outputFor(options);
    const id = toId('subscription', text);
    const trigger = triggerOf(options);
    if (!trigger)
      throw wrongUse('The trigger is not specified.', 'Pass --quiet-seconds, --marker, --every, or --daily-at.');
    const inlet = await connect(options);
    const changed = valueOf(await inlet.updateSubscription(id, { trigger }));
    output.result(changed, () => `subscription ${id} imports ${describeTrigger(changed.trigger)}`);
  });

  for (const [name, paused, what] of [
    ['pause', true, 'start no more imports; files that arrive wait until you resume it'],
    ['resume', false, 'import again, including the files that arrived in the meantime'],
  ] as const) {
    partnerCommand(subscriptions, name, {
      description: what,
      examples: [[`inlet subscriptions ${name} 1`, `${paused ? 'Pause' : 'Resume'} subscription 1.`]],
    })
      .argument('<id>', 'subscription ID')
      .action(async (text: string, options: CommonOptions) => {
        const output = outputFor(options);
        const id = toId('subscription', text);
        const inlet = await connect(options);
        const changed = valueOf(await inlet.updateSubscription(id, { paused }));
        output.result(changed, () => `subscription ${id} is ${changed.status}`);
      });
  }

  partnerCommand(subscriptions, 'delete', {
    description: 'delete a subscription; imports that it has already queued still run',
    examples: [['inlet subscriptions delete 1', 'Delete subscription 1.']],
  })
    .argument('<id>', 'subscription ID')
    .action(async (text: string, options: CommonOptions) => {
      const output = outputFor(options);
      const id = toId('subscription', text);
      const inlet = await connect(options);
      valueOf(await inlet.deleteSubscription(id));
      output.result({ subscription_id: id }, () => `subscription ${id} is deleted`);
    });
}
