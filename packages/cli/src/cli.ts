import { Command } from 'commander';
import { addLimitsCommand } from './commands/limits.ts';
import { report } from './failures/report.ts';

/** All commands of a partner. What an operator has more is added to it by the service. */
export function createProgram(): Command {
  const program = new Command('inlet')
    .description('Inlet takes files of advertising ids from object storage into a warehouse.')
    .showSuggestionAfterError()
    .showHelpAfterError('Add --help to see how it is used.')
    .exitOverride();
  program.commandsGroup('For partners:');
  addLimitsCommand(program);
  return program;
}

/**
 * Carries out what the command line says, and leaves the exit code. `explain` says what the errors of commands mean that
 * were added from outside.
 */
export async function run(program: Command, explain?: (error: unknown) => string): Promise<void> {
  try {
    if (process.argv.length <= 2) program.outputHelp();
    else await program.parseAsync();
  } catch (error) {
    process.exitCode = report(error, explain);
  }
}
