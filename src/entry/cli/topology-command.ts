import type { Command } from 'commander';
import { print } from './output.ts';

export function addTopologyCommands(program: Command): void {
  const topology = program
    .command('topology')
    .description('compare the recorded shards with the configuration and with ClickHouse');
  topology
    .command('show', { isDefault: true })
    .description('print the recorded shards and every difference; exit with code 1 if there is one')
    .action(async () => {
      const { describeTopology } = await import('../topology.ts');
      const { text, hasDifferences } = await describeTopology();
      print(text);
      if (hasDifferences) process.exitCode = 1;
    });
  topology
    .command('change')
    .description('record the configured shards as the new topology, after printing the effect on existing data')
    .option('--confirm', 'record the change; without this option, only the effect is printed')
    .option('--accept-lost-shards', 'give up the rows of shards that are no longer configured')
    .action(async ({ confirm, acceptLostShards }: { confirm?: true; acceptLostShards?: true }) => {
      const { changeTopology } = await import('../topology.ts');
      print(await changeTopology({ isConfirmed: confirm === true, acceptsLostShards: acceptLostShards === true }));
    });
}
