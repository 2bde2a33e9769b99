import { type Output, outputFor } from '@inlet/cli';
import type { Command } from 'commander';
import type { RecordedList } from '../../ports/suppression.ts';
import { type OutputOptions, operatorCommand } from './output.ts';

export function addSuppressionCommands(program: Command): void {
  const privacy =
    program.commands.find((command) => command.name() === 'privacy') ??
    program.command('privacy').description('keep deleted devices deleted');
  const suppress = privacy.command('suppress').description('maintain the list of devices whose data is not stored');
  for (const isRemoval of [false, true]) {
    operatorCommand(
      suppress,
      isRemoval ? 'remove' : 'add',
      isRemoval ? 'remove devices from the list' : 'add devices to the list',
    )
      .argument('<entry...>', 'advertising IDs, or their SHA-256 hashes in Base64')
      .action(async (entries: string[], options: OutputOptions) => {
        const { changeEntries } = await import('../suppression.ts');
        showList(outputFor(options), await changeEntries(entries, { isRemoval }));
      });
  }
  operatorCommand(suppress, 'import', 'add all devices in a file to the list')
    .argument('<file>', 'one entry per line, or a CSV file from DROP with the header ID,Hash')
    .option('--remove', 'remove the devices from the list instead')
    .action(async (file: string, { remove, ...options }: OutputOptions & { remove?: true }) => {
      const { changeFile } = await import('../suppression.ts');
      showList(outputFor(options), await changeFile(file, { isRemoval: remove === true }));
    });
  operatorCommand(
    suppress,
    'status',
    'compare the list on all servers; exit with code 1 if a server has a different list',
  ).action(async (options: OutputOptions) => {
    const { suppressionStatus } = await import('../suppression.ts');
    const { list, servers, outdatedJobs } = await suppressionStatus();
    const behind = servers.filter(({ isCurrent }) => !isCurrent);
    if (behind.length > 0) process.exitCode = 1;
    outputFor(options).result(
      {
        ...recordOf(list),
        servers: servers.map(({ isCurrent, ...server }) => ({ ...server, current: isCurrent })),
        outdated_jobs: outdatedJobs,
      },
      () =>
        [
          sentenceOf(list),
          `${servers.length - behind.length} of ${servers.length} servers have this list.`,
          ...behind.map(
            ({ shard, replica, hashes }) =>
              `Shard ${shard}, replica ${replica} has a different list with ${hashes} hashes. Run \`inlet privacy suppress sync\`.`,
          ),
          `${outdatedJobs} running jobs have rows that were checked against an earlier version.`,
        ].join('\n'),
    );
  });
  operatorCommand(
    suppress,
    'sync',
    'give every server the same list, for example after a restore or after a server was added',
  ).action(async (options: OutputOptions) => {
    const { syncList } = await import('../suppression.ts');
    showList(outputFor(options), await syncList());
  });
  operatorCommand(suppress, 'match', 'count the stored devices that are on the list; reads all rows').action(
    async (options: OutputOptions) => {
      const { countMatches } = await import('../suppression.ts');
      const ofShards = await countMatches();
      const devices = ofShards.reduce((sum, found) => sum + found, 0);
      outputFor(options).result({ devices, by_shard: ofShards }, () => `${devices} stored devices are on the list.`);
    },
  );
}

function recordOf({ version, hashes, checksum, changedAt }: RecordedList) {
  return { version, hashes, checksum, changed_at: changedAt };
}

function sentenceOf({ version, hashes }: RecordedList): string {
  return `Version ${version} of the list has ${hashes} hashes.`;
}

function showList(output: Output, list: RecordedList): void {
  output.result(recordOf(list), () => sentenceOf(list));
}
