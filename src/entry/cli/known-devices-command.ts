import type { Command } from 'commander';
import { print } from './output.ts';

export function addKnownDevicesCommands(program: Command): void {
  program
    .command('known-devices')
    .description('maintain the devices that audiences are matched with')
    .command('rebuild')
    .description('remove devices that have no attribute left; imports can run at the same time')
    .action(async () => {
      const { rebuild } = await import('../known-devices.ts');
      const { before, after } = await rebuild();
      print(`${before} devices were known before, ${after} are known now`);
    });
}
