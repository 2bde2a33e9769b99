import { type Column, outputFor, table } from '@inlet/cli';
import type { Command } from 'commander';
import type { ShardRecord } from '../../domain/topology.ts';
import { type OutputOptions, operatorCommand } from './output.ts';

type ChangeOptions = OutputOptions & { readonly confirm?: true; readonly acceptLostShards?: true };

const columns: readonly Column<ShardRecord>[] = [
  { title: 'SHARD', align: 'right', of: ({ number }) => number },
  { title: 'IDENTITY', of: ({ identity }) => identity },
  { title: 'WEIGHT', align: 'right', of: ({ weight }) => weight },
];

export function addTopologyCommands(program: Command): void {
  const topology = program
    .command('topology')
    .description('compare the recorded shards with the configuration and with ClickHouse');
  operatorCommand(
    topology,
    'show',
    'print the recorded shards and every difference; exit with code 1 if there is one',
    {
      isDefault: true,
    },
  ).action(async (options: OutputOptions) => {
    const { describeTopology } = await import('../topology.ts');
    const output = outputFor(options);
    const { shards, differences } = await describeTopology();
    output.result({ shards, differences }, () =>
      [
        shards.length === 0 ? 'No shard is recorded.' : table(columns, shards, output.stdout),
        ...(differences.length === 0 ? ['The configuration and every shard match the record.'] : differences),
      ].join('\n'),
    );
    if (differences.length > 0) process.exitCode = 1;
  });
  operatorCommand(
    topology,
    'change',
    'record the configured shards as the new topology, after printing the effect on existing data',
  )
    .option('--confirm', 'record the change; without this option, only the effect is printed')
    .option('--accept-lost-shards', 'give up the rows of shards that are no longer configured')
    .action(async ({ confirm, acceptLostShards, ...options }: ChangeOptions) => {
      const { changeTopology } = await import('../topology.ts');
      const isConfirmed = confirm === true;
      const text = await changeTopology({ isConfirmed, acceptsLostShards: acceptLostShards === true });
      outputFor(options).result({ changed: isConfirmed, lines: text.split('\n') }, () => text);
    });
}
