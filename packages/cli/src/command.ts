import type { Command } from 'commander';
import type { OutputOptions } from './terminal/output.ts';

export type LoginOptions = { readonly profile?: string | undefined };

export type CommonOptions = OutputOptions & LoginOptions;

type About = {
  readonly description: string;
  /** Each example command and its description. */
  readonly examples: readonly (readonly [command: string, what: string])[];
  /** Whether the command runs if the parent is called without a subcommand. */
  readonly isDefault?: boolean;
};

/** Creates a command that needs no login. Adds `--json`, `--quiet`, and the examples. */
export function localCommand(
  parent: Command,
  name: string,
  { description, examples, isDefault = false }: About,
): Command {
  return parent
    .command(name, { isDefault })
    .description(description)
    .option('--json', 'print the result as JSON')
    .option('-q, --quiet', 'print only the result and errors')
    .addHelpText('after', () => exampleText(examples));
}

/** Creates a command that calls the service. */
export function partnerCommand(parent: Command, name: string, about: About): Command {
  return localCommand(parent, name, about).option(
    '--profile <name>',
    'use this login instead of the environment (default: INLET_URL and INLET_API_KEY, else INLET_PROFILE, else the last `inlet login`)',
  );
}

function exampleText(examples: About['examples']): string {
  const lines = examples.flatMap(([command, what]) => [`  # ${what}`, `  $ ${command}`]);
  return `\n${examples.length === 1 ? 'Example' : 'Examples'}:\n${lines.join('\n')}`;
}
