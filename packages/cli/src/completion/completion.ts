import type { Command } from 'commander';

type Word = { readonly word: string; readonly about: string };

/** The words that can follow a command. */
export type Place = {
  /** The words of the command, for example `audience create`. Empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly (Word & { readonly choices: readonly string[]; readonly takesValue: boolean })[];
  /** Choices of the first argument. */
  readonly choices: readonly string[];
};

/** Returns all commands that the help shows, with the words that can follow them. */
export function completionTree(program: Command): Place[] {
  return placesOf(program, '');
}

function placesOf(command: Command, path: string): Place[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const place: Place = {
    path,
    commands: below.map((one) => ({ word: one.name(), about: firstLine(one.description()) })),
    options: help
      .visibleOptions(command)
      .flatMap(({ long, description, argChoices, required, optional }) =>
        typeof long === 'string'
          ? [{ word: long, about: firstLine(description), choices: argChoices ?? [], takesValue: required || optional }]
          : [],
      ),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  const inner = below.filter((one) => one.name() !== 'help');
  return [place, ...inner.flatMap((one) => placesOf(one, path === '' ? one.name() : `${path} ${one.name()}`))];
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
