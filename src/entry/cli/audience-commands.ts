import type { Command } from 'commander';
import { printJson } from './output.ts';
import { withWiring } from './with-wiring.ts';

/** The newest are the ones that are asked for. */
const shown = 100;

export function addAudienceCommands(program: Command): void {
  // Partners have the others of this name.
  const audience = program.commands.find((command) => command.name() === 'audience') ?? program.command('audience');
  audience
    .command('purges')
    .helpGroup('For operators:')
    .description(`show the last ${shown} cleared generations: rows removed from the engine, and which are not done yet`)
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
