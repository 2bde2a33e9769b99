import type { Command } from 'commander';
import { say } from './output.ts';

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
      say(ran.length === 0 ? 'nothing to migrate' : ran.map((name) => `ran ${name}`).join('\n'));
    });
}
