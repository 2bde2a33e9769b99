import { outputFor, several } from '@inlet/cli';
import type { Command } from 'commander';
import { type OutputOptions, lineCollector, operatorCommand } from './output.ts';

export function addIndexCommands(program: Command): void {
  const index = program.command('index').description('maintain the device index, from which reports are computed');
  operatorCommand(index, 'status', 'show how many partners and audiences are waiting to be indexed').action(
    async (options: OutputOptions) => {
      const { countIndexChanges } = await import('../device-index.ts');
      const changes = await countIndexChanges();
      outputFor(options).result({ waiting: changes }, () =>
        changes === 0
          ? 'the device index is up to date'
          : `${several(changes, 'partner or audience is', 'partners and audiences are')} waiting to be indexed`,
      );
    },
  );
  operatorCommand(index, 'verify', 'compare the device index with the rows; reads all rows').action(
    async (options: OutputOptions) => {
      const { verifyDeviceIndex } = await import('../device-index.ts');
      const output = outputFor(options);
      const { lines, add } = lineCollector(output);
      for (const difference of await verifyDeviceIndex()) add(difference);
      output.result({ differences: lines }, () =>
        lines.length === 0 ? 'the device index equals the rows' : several(lines.length, 'difference'),
      );
      if (lines.length > 0) process.exitCode = 1;
    },
  );
  operatorCommand(
    index,
    'rebuild',
    'delete the device index and rebuild it from the rows; reports wait until it is complete',
  ).action(async (options: OutputOptions) => {
    const { rebuildDeviceIndex } = await import('../device-index.ts');
    const output = outputFor(options);
    const { changes, seconds } = await rebuildDeviceIndex((left) => output.note(`${left} partners and audiences left`));
    output.result(
      { rebuilt: changes, seconds },
      () => `rebuilt the device index of ${changes} partners and audiences in ${seconds.toFixed(1)} s`,
    );
  });
}
