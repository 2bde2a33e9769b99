import { escapeTerminal, outputFor, wholeNumber } from '@inlet/cli';
import type { Command } from 'commander';
import { type OutputOptions, operatorCommand } from './output.ts';
import { withWiring } from './with-wiring.ts';

export function addMigrateCommand(program: Command): void {
  operatorCommand(program, 'migrate', 'migrate PostgreSQL and ClickHouse to the schema of this release').action(
    async (options: OutputOptions) => {
      const [{ readConfig }, { createLogger }, { migrate }] = await Promise.all([
        import('../config.ts'),
        import('../logging.ts'),
        import('../migrate.ts'),
      ]);
      const ran = await migrate(readConfig(), createLogger({ name: 'inlet-migrate', level: 'warn' }));
      outputFor(options).result({ migrations: ran }, () =>
        ran.length === 0 ? 'nothing to migrate' : ran.map((name) => `ran ${name}`).join('\n'),
      );
    },
  );
}

export function addBackupCommands(program: Command): void {
  operatorCommand(
    program,
    'backup',
    'back up both databases in one consistent state while Inlet keeps running (see docs/backup.md)',
  )
    .argument('<folder>', 'path of a new folder; its base name is the name of the backup')
    .option('--patience <seconds>', 'maximum time to wait for running lanes to pause', wholeNumber(1, 99_999), 300)
    .action((folder: string, { patience, ...options }: OutputOptions & { patience: number }) =>
      withWiring(async (deps) => {
        const { backup } = await import('../backup.ts');
        const { pausedSeconds, notRecorded } = await backup(deps, folder, patience);
        const output = outputFor(options);
        output.result({ folder, paused_seconds: pausedSeconds, recorded: notRecorded === null }, () =>
          escapeTerminal(
            `saved to ${folder} and to the backup disk of every shard; lanes were paused for ${pausedSeconds.toFixed(1)} s`,
          ),
        );
        if (notRecorded !== null)
          output.note(
            `The backup is complete, but it could not be recorded: ${notRecorded}. The console and the alert InletBackupOverdue do not know about it.`,
          );
      }),
    );
  operatorCommand(
    program,
    'restore',
    'restore a backup into an empty PostgreSQL database and a new ClickHouse database',
  )
    .argument('<folder>', 'folder of the backup')
    .action(async (folder: string, options: OutputOptions) => {
      const [{ readConfig }, { restore }] = await Promise.all([import('../config.ts'), import('../backup.ts')]);
      const { takenAt } = await restore(readConfig(), folder);
      const output = outputFor(options);
      output.result(
        { taken_at: takenAt },
        () =>
          `Restored the state of ${takenAt}. Later requests are lost. Run \`inlet doctor\` to check the installation.`,
      );
    });
}
