import { Argument, type Command } from 'commander';
import { completionTree } from '../completion/completion.ts';
import { bashCompletion, fishCompletion, zshCompletion } from '../completion/shells.ts';

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** The completion script covers all commands that are registered when this command runs. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a completion script for your shell')
    .helpGroup('More help:')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(scripts)))
    .addHelpText(
      'after',
      `
Examples:
  # bash: add to ~/.bashrc
  $ source <(inlet completion bash)
  # zsh: add to ~/.zshrc after compinit
  $ source <(inlet completion zsh)
  # fish
  $ inlet completion fish > ~/.config/fish/completions/inlet.fish`,
    )
    .action((shell: keyof typeof scripts) => {
      process.stdout.write(scripts[shell](completionTree(program)));
    });
}
