import { createProgram as createPartnerProgram } from '@inlet/cli';
import type { Command } from 'commander';
import { addAttributeCommands } from './attribute-commands.ts';
import { addAudienceCommands } from './audience-commands.ts';
import { addAuditCommands } from './audit-command.ts';
import { addCustomerCommands, addUserTokenCommands } from './customer-commands.ts';
import { addBackupCommands, addMigrateCommand } from './database-commands.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { addExamples } from './examples.ts';
import { addIndexCommands } from './index-command.ts';
import { addJobCommands } from './job-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addKnownDevicesCommands } from './known-devices-command.ts';
import { addNotificationUrlCommand } from './notification-url-command.ts';
import { addRepairCommands } from './repair-command.ts';
import { addPrivacyCommands } from './privacy-command.ts';
import { addDropCommands } from './drop-commands.ts';
import { addSuppressionCommands } from './suppression-commands.ts';
import { addTopologyCommands } from './topology-command.ts';
import { addPartnerCommands } from './partner-commands.ts';
import { addVersionCommand } from './version-command.ts';

/** Creates a program with the partner commands and, in a separate group, the operator commands. */
export function createProgram(): Command {
  return createPartnerProgram((program) => {
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
    addAuditCommands(program);
    addRepairCommands(program);
    addDoctorCommand(program);
    addKnownDevicesCommands(program);
    addIndexCommands(program);
    addPrivacyCommands(program);
    addTopologyCommands(program);
    addSuppressionCommands(program);
    addDropCommands(program);
    addNotificationUrlCommand(program);
    addVersionCommand(program);
    addExamples(program);
  });
}
