import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { createProgram } from '../../src/entry/cli/create-program.ts';
import { commandsPage, followOperatorPage } from '../support/follow-operator-page.ts';
import { operatorOutput } from '../support/run-operator.ts';
import { type TestStores, createStores } from '../support/stores.ts';

function operatorCommands(command: Command, words: readonly string[] = [], isOperator = false): string[] {
  return command.commands.flatMap((one) => {
    const name = [...words, one.name()];
    const isOfOperator = isOperator || one.helpGroup() === 'For operators:';
    if (one.commands.length > 0) return operatorCommands(one, name, isOfOperator);
    return isOfOperator ? [name.join(' ')] : [];
  });
}

describe('the page with all operator commands', () => {
  let stores: TestStores;

  beforeAll(async () => {
    stores = await createStores('two');
    await operatorOutput(stores.environment, ['migrate']);
  });
  afterAll(() => stores.drop());

  it('shows what every command prints', { timeout: 180_000 }, async () => {
    const { ran, differences } = await followOperatorPage(stores);
    expect(differences).toEqual([]);
    expect(ran.length).toBeGreaterThan(60);
  });

  it('shows every command as a table and as JSON', () => {
    // The privacy commands have their own page, and other tests restore backups and remove partners.
    const elsewhere = /^(?:privacy |backup$|restore$|partner remove$)/;
    const page = readFileSync(commandsPage, 'utf8');
    const commands = operatorCommands(createProgram()).filter((name) => !elsewhere.test(name));
    expect(commands.length).toBeGreaterThan(35);
    for (const name of commands) {
      // A default command can be called without its name.
      const forms = [name, name.replace(/ (?:list|show|rows)$/, '')].map((words) => `\ninlet ${words}`);
      const blocks = page.split('```sh').filter((block) => forms.some((form) => block.startsWith(form)));
      expect(
        blocks.some((block) => /^\n[^\n]* --json/.test(block)),
        `${name} --json`,
      ).toBe(true);
      expect(
        blocks.some((block) => !/^\n[^\n]* --json/.test(block)),
        name,
      ).toBe(true);
    }
  });
});
