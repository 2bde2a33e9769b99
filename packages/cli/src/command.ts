import type { Command } from 'commander';
import type { OutputOptions } from './terminal/output.ts';

export type LoginOptions = { readonly profile?: string | undefined };

export type CommonOptions = OutputOptions & LoginOptions;

type About = {
  readonly description: string;
  /** Each as it would be typed, and what it does. */
  readonly examples: readonly (readonly [command: string, what: string])[];
};

/** A command that needs no login: with `--json`, `--quiet` and its examples. */
export function localCommand(parent: Command, name: string, { description, examples }: About): Command {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'the result as JSON, for scripts')
    .option('-q, --quiet', 'no progress and no hints: the result and errors only')
    .addHelpText('after', () => exampleText(examples));
}

/** A command that calls the service. */
export function partnerCommand(parent: Command, name: string, about: About): Command {
  return localCommand(parent, name, about).option(
    '--profile <name>',
    'the login to use, whatever the environment says; else INLET_URL and INLET_API_KEY, else INLET_PROFILE, else the one of the last `inlet login`',
  );
}

function exampleText(examples: About['examples']): string {
  const lines = examples.flatMap(([command, what]) => [`  # ${what}`, `  $ ${command}`]);
  return `\n${examples.length === 1 ? 'Example' : 'Examples'}:\n${lines.join('\n')}`;
}
