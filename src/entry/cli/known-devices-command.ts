import { countOf, outputFor } from '@inlet/cli';
import type { Command } from 'commander';
import { type OutputOptions, operatorCommand } from './output.ts';

export function addKnownDevicesCommands(program: Command): void {
  const knownDevices = program
    .command('known-devices')
    .description('maintain the devices that audiences are matched with');
  operatorCommand(
    knownDevices,
    'rebuild',
    'remove devices that have no attribute left; imports can run at the same time',
  ).action(async (options: OutputOptions) => {
    const { rebuild } = await import('../known-devices.ts');
    const { before, after } = await rebuild();
    outputFor(options).result(
      { before, after },
      () => `${countOf(before)} devices were known before, ${countOf(after)} are known now`,
    );
  });
}
