import { type Column, countOf, outputFor } from '@inlet/cli';
import type { Command } from 'commander';
import { type OutputOptions, operatorCommand, printList, when } from './output.ts';
import { withWiring } from './with-wiring.ts';

const shown = 100;

type Purge = {
  readonly partner_id: number;
  readonly audience_id: number;
  readonly generation: number;
  readonly cleared_at: Date;
  readonly purged_rows: number;
  readonly purged_at: Date | null;
};

const columns: readonly Column<Purge>[] = [
  { title: 'PARTNER ID', align: 'right', of: ({ partner_id }) => partner_id },
  { title: 'AUDIENCE ID', align: 'right', of: ({ audience_id }) => audience_id },
  { title: 'GENERATION', align: 'right', of: ({ generation }) => generation },
  { title: 'STATE', of: ({ purged_at }) => (purged_at === null ? 'waiting' : 'purged') },
  { title: 'CLEARED', of: ({ cleared_at }) => when(cleared_at) },
  { title: 'PURGED', of: ({ purged_at }) => when(purged_at) },
  { title: 'ROWS', align: 'right', of: ({ purged_rows }) => countOf(purged_rows) },
];

export function addAudienceCommands(program: Command): void {
  // The partner program already has a command with this name.
  const audience = program.commands.find((command) => command.name() === 'audience') ?? program.command('audience');
  operatorCommand(
    audience,
    'purges',
    `list the last ${shown} cleared generations and the number of rows purged from ClickHouse`,
  )
    .helpGroup('For operators:')
    .action((options: OutputOptions) =>
      withWiring(async ({ audiences }) => {
        const purges = (await audiences.listDead(shown)).map(
          ({ partnerId, audienceId, generation, deadAt, purgedRows, purgedAt }) => ({
            partner_id: partnerId,
            audience_id: audienceId,
            generation,
            cleared_at: deadAt,
            purged_rows: purgedRows,
            purged_at: purgedAt,
          }),
        );
        printList(outputFor(options), columns, purges, 'No audience has been cleared.');
      }),
    );
}
