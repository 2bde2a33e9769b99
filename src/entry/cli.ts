import { createProgram, run } from '@inlet/cli';
import { Failure } from '../domain/failure.ts';
import { addAttributeCommands } from './cli/attribute-commands.ts';
import { addAuditCommand } from './cli/audit-command.ts';
import { addBackupCommands } from './cli/backup-commands.ts';
import { addAudienceCommands } from './cli/audience-commands.ts';
import { addCustomerCommands } from './cli/customer-commands.ts';
import { addDoctorCommand } from './cli/doctor-command.ts';
import { addJobCommands } from './cli/job-commands.ts';
import { addKeyCommands } from './cli/key-commands.ts';
import { addMigrateCommand } from './cli/migrate-command.ts';
import { addPartnerCommands } from './cli/partner-commands.ts';
import { addUserTokenCommands } from './cli/user-token-commands.ts';

const program = createProgram();
program.commandsGroup('For operators:');
addMigrateCommand(program);
addPartnerCommands(program);
addKeyCommands(program);
addAttributeCommands(program);
addAudienceCommands(program);
addCustomerCommands(program);
addUserTokenCommands(program);
addJobCommands(program);
addBackupCommands(program);
addAuditCommand(program);
addDoctorCommand(program);

await run(program, (error) => {
  if (error instanceof Failure) return `${error.code}: ${error.detail}\n${error.entry.remedy}`;
  return error instanceof Error ? error.message : String(error);
});
