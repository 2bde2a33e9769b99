import { wholeNumber } from '@inlet/cli';
import type { Command } from 'commander';
import { print } from './output.ts';
import { withWiring } from './with-wiring.ts';

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('bring PostgreSQL and ClickHouse to the schema of this version')
    .action(async () => {
      const [{ readConfig }, { createLogger }, { migrate }] = await Promise.all([
        import('../config.ts'),
        import('../logging.ts'),
        import('../migrate.ts'),
      ]);
      const ran = await migrate(readConfig(), createLogger({ name: 'inlet-migrate', level: 'warn' }));
      print(ran.length === 0 ? 'nothing to migrate' : ran.map((name) => `ran ${name}`).join('\n'));
    });
}

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .argument('<folder>', 'a new folder, of which the last part is the name of the backup')
    .description('save both stores as they are at one moment, while Inlet goes on; see docs/backup.md')
    .option('--patience <seconds>', 'how long a lane may take to come to rest', wholeNumber(1, 99_999), 300)
    .action((folder: string, { patience }: { patience: number }) =>
      withWiring(async (deps) => {
        const { backup } = await import('../backup.ts');
        const pausedSeconds = await backup(deps, folder, patience);
        print(
          `saved in ${folder} and on the disk of every shard; the lanes stood still for ${pausedSeconds.toFixed(1)} s`,
        );
      }),
    );
  program
    .command('restore')
    .argument('<folder>', 'the folder of a backup')
    .description('bring a backup into an empty PostgreSQL database and a new database of the engine')
    .action(async (folder: string) => {
      const [{ readConfig }, { restore }] = await Promise.all([import('../config.ts'), import('../backup.ts')]);
      const { takenAt } = await restore(readConfig(), folder);
      print(`restored as it was at ${takenAt}; everything that was asked for later is lost. Run \`inlet doctor\`.`);
    });
}
