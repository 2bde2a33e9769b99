import type { Command } from 'commander';
import type { RecordedList } from '../../ports/suppression.ts';
import { print, printJson } from './output.ts';

export function addSuppressionCommands(program: Command): void {
  const privacy =
    program.commands.find((command) => command.name() === 'privacy') ??
    program.command('privacy').description('keep deleted devices deleted');
  const suppress = privacy.command('suppress').description('maintain the list of devices whose data is not stored');
  for (const isRemoval of [false, true]) {
    suppress
      .command(isRemoval ? 'remove' : 'add')
      .argument('<entry...>', 'advertising IDs, or their SHA-256 hashes in Base64')
      .description(isRemoval ? 'remove devices from the list' : 'add devices to the list')
      .action(async (entries: string[]) => {
        const { changeEntries } = await import('../suppression.ts');
        printList(await changeEntries(entries, { isRemoval }));
      });
  }
  suppress
    .command('import')
    .argument('<file>', 'one entry per line, or a CSV file of DROP with the header ID,Hash')
    .option('--remove', 'remove the devices from the list instead')
    .description('add all devices in a file to the list')
    .action(async (file: string, { remove }: { remove?: true }) => {
      const { changeFile } = await import('../suppression.ts');
      printList(await changeFile(file, { isRemoval: remove === true }));
    });
  suppress
    .command('status')
    .option('--json', 'print JSON')
    .description('compare the list on all servers; exit with code 1 if a server has another list')
    .action(async ({ json }: { json?: true }) => {
      const { suppressionStatus } = await import('../suppression.ts');
      const { list, servers, outdatedJobs } = await suppressionStatus();
      const behind = servers.filter(({ isCurrent }) => !isCurrent);
      if (behind.length > 0) process.exitCode = 1;
      if (json) {
        const { version, hashes, checksum, changedAt } = list;
        printJson({ version, hashes, checksum, changed_at: changedAt, servers, outdated_jobs: outdatedJobs });
        return;
      }
      printList(list);
      print(`${servers.length - behind.length} of ${servers.length} servers have this list`);
      for (const { shard, replica, hashes } of behind) {
        print(
          `shard ${shard}, replica ${replica} has another list with ${hashes} hashes. Run \`inlet privacy suppress sync\`.`,
        );
      }
      print(`${outdatedJobs} running jobs have rows that were checked against an earlier version`);
    });
  suppress
    .command('sync')
    .description('give every server the same list, for example after a restore or after a server was added')
    .action(async () => {
      const { syncList } = await import('../suppression.ts');
      printList(await syncList());
    });
  suppress
    .command('match')
    .description('count the stored devices that are on the list; reads all rows')
    .action(async () => {
      const { countMatches } = await import('../suppression.ts');
      const ofShards = await countMatches();
      const total = ofShards.reduce((sum, devices) => sum + devices, 0);
      print(`${total} stored devices are on the list`);
    });
}

function printList({ version, hashes }: RecordedList): void {
  print(`version ${version} of the list has ${hashes} hashes`);
}
