import { Argument, type Command } from 'commander';
import { completionTree } from '../completion/completion.ts';
import { bashCompletion, fishCompletion, zshCompletion } from '../completion/shells.ts';

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** Added last: it knows the commands that are there when it runs. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('a script that completes commands and options in your shell')
    .helpGroup('More help:')
    .addArgument(new Argument('<shell>', 'which').choices(Object.keys(scripts)))
    .addHelpText(
      'after',
      `
Examples:
  # bash: in ~/.bashrc
  $ source <(inlet completion bash)
  # zsh: in ~/.zshrc, behind compinit
  $ source <(inlet completion zsh)
  # fish
  $ inlet completion fish > ~/.config/fish/completions/inlet.fish`,
    )
    .action((shell: keyof typeof scripts) => {
      process.stdout.write(scripts[shell](completionTree(program)));
    });
}
