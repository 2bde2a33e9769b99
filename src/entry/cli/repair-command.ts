import type { Command } from 'commander';
import { print } from './output.ts';

type Options = { readonly partner?: string; readonly since?: string; readonly yes?: true };

export function addRepairCommands(program: Command): void {
  const repair = program.command('repair').description('restore what ClickHouse or PostgreSQL has lost');
  repair
    .command('rows', { isDefault: true })
    .description(
      'load the missing rows of finished jobs and audiences again from their files; exit with code 1 if rows are missing',
    )
    .option('--partner <name>', 'repair only this partner')
    .option('--since <duration>', 'repair only work that finished in this period, for example 24h')
    .option('--yes', 'restore the rows; without this option, only the files are listed')
    .action(async ({ partner, since, yes }: Options) => {
      const { repairStoredRows } = await import('../repair.ts');
      const scope = { partner: partner ?? null, since: since ?? null };
      const { suspects, incomplete } = await repairStoredRows(scope, { isConfirmed: yes === true }, print);
      print(
        yes
          ? `${suspects} jobs and audiences repaired, ${incomplete} still incomplete`
          : `${suspects} jobs and audiences to repair. ${suspects > 0 ? 'Run the command with --yes to restore their rows.' : ''}`.trim(),
      );
      if (incomplete > 0) process.exitCode = 1;
    });
  repair
    .command('ids')
    .description('move all IDs forward after PostgreSQL was restored from an older state than ClickHouse')
    .option('--yes', 'move the IDs; without this option, only the effect is printed')
    .action(async ({ yes }: { yes?: true }) => {
      const { repairIds } = await import('../repair.ts');
      print(await repairIds({ isConfirmed: yes === true }));
    });
}
