import type { Event } from '@inlet/sdk';
import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { timeOf } from '../terminal/format.ts';
import { outputFor } from '../terminal/output.ts';
import { type Column, table } from '../terminal/table.ts';
import { wholeNumber } from './arguments.ts';

type Options = CommonOptions & { readonly after: number; readonly limit: number };

const columns: readonly Column<Event>[] = [
  { title: 'SEQUENCE', align: 'right', of: ({ sequence }) => sequence },
  { title: 'TIME', of: ({ created_at }) => timeOf(created_at) },
  { title: 'TYPE', of: ({ type }) => type },
  { title: 'CUSTOMER', of: ({ customer }) => customer ?? '-', canShrink: true },
  { title: 'RECORD', of: ({ link }) => link, canShrink: true },
];

function noEvents({ after }: Options): string {
  return after === 0 ? 'There are no events.' : `There are no events after ${after}.`;
}

export function addEventsCommand(program: Command): void {
  partnerCommand(program, 'events', {
    description: 'list events, such as finished reports',
    examples: [['inlet events --after 41', 'List the events after the last one that you processed.']],
  })
    .option('--after <sequence>', 'list only the events after this one', wholeNumber(0, 999_999_999_999_999), 0)
    .option('--limit <number>', 'maximum number of events, up to 1000', wholeNumber(1, 1000), 100)
    .action(async (options: Options) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const events = valueOf(await inlet.listEvents({ query: { after: options.after, limit: options.limit } }));
      output.result(events, () => (events.length === 0 ? noEvents(options) : table(columns, events, output.stdout)));
      const last = events.at(-1)?.sequence;
      if (last !== undefined && events.length === options.limit)
        output.note(`There may be more events: inlet events --after ${last}`);
    });
}
