import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyStores, type TestStores } from '../support/stores.ts';
import { followedPages, followPage } from './follow-page.ts';
import { makeRepository, npmSettings } from './given-repository.ts';
import { openTerminal, type Terminal } from './terminal.ts';

describe('an operator who follows the pages word for word', () => {
  let repository: ReturnType<typeof makeRepository>;
  let stores: TestStores;
  let terminal: Terminal;

  beforeAll(async () => {
    repository = makeRepository();
    stores = await createEmptyStores('two');
    terminal = openTerminal(npmSettings());
  });
  afterAll(async () => {
    await terminal.close();
    await stores.drop();
    repository.remove();
  });

  it.each(followedPages.operator)('sees what %s shows', async (page) => {
    const given = { INLET_REPOSITORY: repository.folder, ...stores.environment };
    const { ran, compared } = await followPage(page, terminal, given);
    expect(ran).toBeGreaterThan(0);
    expect(compared).toBeGreaterThan(0);
  });
});
