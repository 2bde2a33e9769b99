import { CommanderError, type Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from './create-program.ts';

/** All executable commands with their full names. */
function leavesOf(command: Command, words: readonly string[] = []): { words: string; command: Command }[] {
  if (command.commands.length === 0) return [{ words: words.join(' '), command }];
  return command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]));
}

function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return help;
}

/** Splits an example as a shell would: quoted words stay together, and redirections are removed. */
function parseExample(example: string): string[] {
  const [own = ''] = example.replaceAll(/\\\n\s*/g, '').split(/\s[<>]\s/);
  const words = [...own.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  return words.filter((word) => !/^[A-Z_]+=/.test(word));
}

const program = createProgram();
const pages = new Set(['exit-codes', 'environment', 'completion']);
const leaves = leavesOf(program).filter(({ words }) => !pages.has(words));

describe('every command', () => {
  it('finds all commands in the program', () => {
    expect(leaves.length).toBeGreaterThan(38);
  });

  it.each(leaves)('has a description and working examples for the command "$words"', async ({ words, command }) => {
    expect(command.description()).not.toBe('');
    const [, text = ''] = helpOf(command).split(/^Examples?:$/m);
    const examples = [...text.matchAll(/^ {2}\$ ((?:.*\\\n)*.*)$/gm)].map(([, example = '']) => parseExample(example));
    expect(examples.length).toBeGreaterThan(0);
    for (const [name, ...parameters] of examples) {
      expect(name).toBe('inlet');
      let ran = 0;
      const fresh = createProgram();
      for (const leaf of leavesOf(fresh)) if (leaf.words === words) leaf.command.action(() => void (ran += 1));
      await fresh.parseAsync(parameters, { from: 'user' });
      expect(ran, parameters.join(' ')).toBe(1);
    }
  });
});

describe('the program', () => {
  it('lists partner commands first and operator commands under their own heading', () => {
    const help = helpOf(program);
    const headings = [...help.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Options', 'For partners', 'For operators', 'More help']);
    expect(help.indexOf('  login')).toBeLessThan(help.indexOf('For operators:'));
    expect(help.indexOf('  migrate')).toBeGreaterThan(help.indexOf('For operators:'));
  });

  it("groups partners' audience commands and the operator's `purges` command under one name", () => {
    const audience = program.commands.filter((command) => command.name() === 'audience');
    expect(audience.flatMap(({ commands }) => commands.map((command) => command.name()))).toEqual([
      'create',
      'append',
      'clear',
      'rename',
      'delete',
      'dismiss',
      'history',
      'cancel',
      'retry',
      'show',
      'list',
      'report',
      'overlap',
      'purges',
    ]);
  });

  it.each([
    [['logn'], 'Did you mean login?'],
    [['imports', '--josn'], 'Did you mean --json?'],
    [['partner', 'shwo', 'acme'], 'Did you mean show?'],
  ])('suggests a correction for %s', async (parameters, question) => {
    let message = '';
    const fresh = createProgram();
    for (const { command } of leavesOf(fresh)) command.configureOutput({ writeErr: (text) => (message += text) });
    for (const command of [fresh, ...fresh.commands])
      command.configureOutput({ writeErr: (text) => (message += text) });
    await expect(fresh.parseAsync(parameters, { from: 'user' })).rejects.toThrow(CommanderError);
    expect(message).toContain('error: wrong_use: unknown');
    expect(message).toContain(question);
  });
});
