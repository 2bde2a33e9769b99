import { Command } from 'commander';
import { Failure } from '../domain/failure.ts';
import { addAttributeCommands } from './cli/attribute-commands.ts';
import { addMigrateCommand } from './cli/migrate-command.ts';
import { complain } from './cli/output.ts';
import { addPartnerCommands } from './cli/partner-commands.ts';

const program = new Command('inlet').description('Operate Inlet: stores, partners and attributes.');
addMigrateCommand(program);
addPartnerCommands(program);
addAttributeCommands(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof Failure) complain(`${error.code}: ${error.detail}\n${error.entry.remedy}`);
  else complain(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
