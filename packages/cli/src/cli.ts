import { Command } from 'commander';
import { addAttributesCommand, addDeleteAttributesCommand } from './commands/attributes.ts';
import { addAudienceCommand } from './commands/audience.ts';
import { addCheckCommand } from './commands/check.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addDeletionsCommand } from './commands/deletions.ts';
import { addErrorsCommand } from './commands/errors.ts';
import { addEventsCommand } from './commands/events.ts';
import { addImportCommand } from './commands/import.ts';
import { addChangeImportCommands } from './commands/change-import.ts';
import { addImportsCommand } from './commands/imports.ts';
import { addCustomersCommand, addTokensCommand } from './commands/customers.ts';
import { addKeysCommand, addStorageCommand } from './commands/keys.ts';
import { addListenCommand } from './commands/listen.ts';
import { addLimitsCommand } from './commands/limits.ts';
import { addLoginCommand } from './commands/login.ts';
import { addLogoutCommand, addProfilesCommand } from './commands/profiles.ts';
import { addRejectsCommand } from './commands/rejects.ts';
import { addSubscriptionsCommand } from './commands/subscriptions.ts';
import { addTopics } from './commands/topics.ts';
import { addUploadCommand } from './commands/upload.ts';
import { addWebhooksCommand } from './commands/webhooks.ts';
import type { CliFailure } from './failures/cli-failure.ts';
import { report } from './failures/report.ts';
import { version } from './generated/version.ts';

export { wholeNumber } from './commands/arguments.ts';
export { exitCodeOf } from './failures/api-errors.ts';
export { CliFailure, exitCode, wrongUse } from './failures/cli-failure.ts';
export { bytesOf, countOf, several, timeOf } from './terminal/format.ts';
export { type Output, type OutputOptions, outputFor } from './terminal/output.ts';
export { version } from './generated/version.ts';
export { type Column, fieldList, table } from './terminal/table.ts';
export { escapeTerminal } from './terminal/text.ts';

/**
 * Creates a program with all partner commands, in the order in which a partner needs them. `addMore` adds the operator
 * commands.
 */
export function createProgram(addMore?: (program: Command) => void): Command {
  const program = new Command('inlet')
    .description('Load files of advertising IDs from object storage into the Inlet warehouse.')
    .version(version, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .showHelpAfterError('Run with --help for usage.')
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'error: wrong_use: ')),
      ...(isJsonRequested() ? { writeErr: () => undefined } : {}),
    })
    .configureHelp({
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace(/^\[options\] ?/, '')}`,
    })
    .exitOverride();
  program.addHelpCommand(
    new Command('help').argument('[command]').description('show help for a command').helpGroup('More help:'),
  );
  program.commandsGroup('For partners:');
  addLoginCommand(program);
  addCheckCommand(program);
  addUploadCommand(program);
  addImportCommand(program);
  addImportsCommand(program);
  addChangeImportCommands(program);
  addErrorsCommand(program);
  addRejectsCommand(program);
  addSubscriptionsCommand(program);
  addAudienceCommand(program);
  addEventsCommand(program);
  addListenCommand(program);
  addWebhooksCommand(program);
  addAttributesCommand(program);
  addDeleteAttributesCommand(program);
  addDeletionsCommand(program);
  addKeysCommand(program);
  addStorageCommand(program);
  addCustomersCommand(program);
  addTokensCommand(program);
  addLimitsCommand(program);
  addProfilesCommand(program);
  addLogoutCommand(program);
  addMore?.(program);
  addCompletionCommand(program);
  addTopics(program);
  return program;
}

/**
 * Whether errors are printed as JSON. Reads the arguments directly, because errors can occur before the options are
 * parsed.
 */
function isJsonRequested(): boolean {
  const end = process.argv.indexOf('--');
  return process.argv.slice(2, end === -1 ? undefined : end).includes('--json');
}

/** Runs the command line and sets the exit code. `toFailure` converts errors from the commands that `addMore` added. */
export async function run(program: Command, toFailure?: (error: unknown) => CliFailure | null): Promise<void> {
  process.stdout.on('error', exitOnClosedPipe);
  try {
    if (process.argv.length <= 2) program.outputHelp();
    else await program.parseAsync();
  } catch (error) {
    process.exitCode = report(error, { toFailure, isJson: isJsonRequested() });
  }
}

/** Exits when the reader closes the pipe early, as in `inlet imports | head`. This is not an error. */
function exitOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}
