import { Command } from 'commander';
import { addAttributesCommand, addDeleteAttributesCommand } from './commands/attributes.ts';
import { addAudienceCommand } from './commands/audience.ts';
import { addCheckCommand } from './commands/check.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addErrorsCommand } from './commands/errors.ts';
import { addImportCommand } from './commands/import.ts';
import { addImportsCommand } from './commands/imports.ts';
import { addLimitsCommand } from './commands/limits.ts';
import { addLoginCommand } from './commands/login.ts';
import { addLogoutCommand, addProfilesCommand } from './commands/profiles.ts';
import { addTopics } from './commands/topics.ts';
import { addUploadCommand } from './commands/upload.ts';
import { report } from './failures/report.ts';
import { version } from './generated/version.ts';

export { wholeNumber } from './commands/arguments.ts';

/** All commands of a partner, in the order in which they are needed; `addMore` adds those that an operator has. */
export function createProgram(addMore?: (program: Command) => void): Command {
  const program = new Command('inlet')
    .description('Inlet takes files of advertising ids from object storage into a warehouse.')
    .version(version, '-V, --version', 'the version of this command')
    .showSuggestionAfterError()
    .showHelpAfterError('Add --help to see how it is used.')
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'error: wrong_use: ')) })
    .configureHelp({
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace(/^\[options\] ?/, '')}`,
    })
    .exitOverride();
  program.addHelpCommand(
    new Command('help').argument('[command]').description('help for a command').helpGroup('More help:'),
  );
  program.commandsGroup('For partners:');
  addLoginCommand(program);
  addCheckCommand(program);
  addUploadCommand(program);
  addImportCommand(program);
  addImportsCommand(program);
  addErrorsCommand(program);
  addAudienceCommand(program);
  addAttributesCommand(program);
  addDeleteAttributesCommand(program);
  addLimitsCommand(program);
  addProfilesCommand(program);
  addLogoutCommand(program);
  addMore?.(program);
  addCompletionCommand(program);
  addTopics(program);
  return program;
}

/**
 * Carries out what the command line says, and leaves the exit code. `explain` says what the errors of commands mean that
 * were added from outside.
 */
export async function run(program: Command, explain?: (error: unknown) => string): Promise<void> {
  process.stdout.on('error', endQuietly);
  try {
    if (process.argv.length <= 2) program.outputHelp();
    else await program.parseAsync();
  } catch (error) {
    process.exitCode = report(error, explain);
  }
}

/** `inlet imports | head`: whoever reads has had enough, and that is no mistake. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}
