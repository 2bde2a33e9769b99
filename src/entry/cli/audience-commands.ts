import type { Command } from 'commander';
import { printJson } from './output.ts';
import { withWiring } from './with-wiring.ts';

const shown = 100;

export function addAudienceCommands(program: Command): void {
  // The partner program already has a command with this name.
  const audience = program.commands.find((command) => command.name() === 'audience') ?? program.command('audience');
  audience
    .command('purges')
    .helpGroup('For operators:')
    .description(`list the last ${shown} cleared generations and the number of rows purged from ClickHouse`)
    .action(() =>
      withWiring(async ({ audiences }) => {
        const dead = await audiences.listDead(shown);
        printJson(
          dead.map(({ partnerId, audienceId, generation, deadAt, purgedRows, purgedAt }) => ({
            partner_id: partnerId,
            audience_id: audienceId,
            generation,
            cleared_at: deadAt,
            purged_rows: purgedRows,
            purged_at: purgedAt,
          })),
        );
      }),
    );
}
