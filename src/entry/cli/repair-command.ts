import { outputFor, several } from '@inlet/cli';
import type { Command } from 'commander';
import { type OutputOptions, lineCollector, operatorCommand } from './output.ts';

type Options = OutputOptions & { readonly partner?: string; readonly since?: string; readonly yes?: true };

export function addRepairCommands(program: Command): void {
  const repair = program.command('repair').description('restore what ClickHouse or PostgreSQL has lost');
  operatorCommand(
    repair,
    'rows',
    'load the missing rows of finished jobs and audiences again from their files; exit with code 1 if rows are missing',
    { isDefault: true },
  )
    .option('--partner <name>', 'repair only this partner')
    .option('--since <duration>', 'repair only work that finished in this period, for example 24h')
    .option('--yes', 'restore the rows; without this option, only the files are listed')
    .action(async ({ partner, since, yes, ...options }: Options) => {
      const { repairStoredRows } = await import('../repair.ts');
      const scope = { partner: partner ?? null, since: since ?? null };
      const output = outputFor(options);
      const { lines, add } = lineCollector(output);
      const isConfirmed = yes === true;
      const { suspects, incomplete } = await repairStoredRows(scope, { isConfirmed }, add);
      const what = several(suspects, 'job or audience', 'jobs and audiences');
      output.result({ changed: isConfirmed, found: suspects, incomplete, lines }, () =>
        isConfirmed
          ? `${what} repaired, ${incomplete} still incomplete`
          : suspects === 0
            ? 'No rows are missing.'
            : `${what} to repair. Run the command with --yes to restore their rows.`,
      );
      if (incomplete > 0) process.exitCode = 1;
    });
  operatorCommand(
    repair,
    'ids',
    'move all IDs forward after PostgreSQL was restored from an older state than ClickHouse',
  )
    .option('--yes', 'move the IDs; without this option, only the effect is printed')
    .action(async ({ yes, ...options }: OutputOptions & { yes?: true }) => {
      const { repairIds } = await import('../repair.ts');
      const isConfirmed = yes === true;
      const text = await repairIds({ isConfirmed });
      outputFor(options).result({ changed: isConfirmed, lines: text.split('\n') }, () => text);
    });
}
