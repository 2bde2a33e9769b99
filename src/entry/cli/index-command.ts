import type { Command } from 'commander';
import { print, printNote } from './output.ts';

export function addIndexCommands(program: Command): void {
  const index = program.command('index').description('maintain the device index, from which reports are computed');
  index
    .command('status')
    .description('show how many partners and audiences are waiting to be indexed')
    .action(async () => {
      const { countIndexChanges } = await import('../device-index.ts');
      const changes = await countIndexChanges();
      print(
        changes === 0
          ? 'the device index is up to date'
          : `${changes} partners and audiences are waiting to be indexed`,
      );
    });
  index
    .command('verify')
    .description('compare the device index with the rows; reads all rows')
    .action(async () => {
      const { verifyDeviceIndex } = await import('../device-index.ts');
      const differences = await verifyDeviceIndex();
      for (const difference of differences) print(difference);
      if (differences.length === 0) print('the device index equals the rows');
      else process.exitCode = 1;
    });
  index
    .command('rebuild')
    .description('delete the device index and rebuild it from the rows; reports wait until it is complete')
    .action(async () => {
      const { rebuildDeviceIndex } = await import('../device-index.ts');
      const { changes, seconds } = await rebuildDeviceIndex((left) => printNote(`${left} partners and audiences left`));
      print(`rebuilt the device index of ${changes} partners and audiences in ${seconds.toFixed(1)} s`);
    });
}
