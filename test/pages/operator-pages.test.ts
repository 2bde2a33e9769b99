import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type TestStores, createEmptyStores } from '../support/stores.ts';
import { followPage, followedPages } from './follow-page.ts';
import { type Terminal, openTerminal } from './terminal.ts';
import { linkPackages, makeRepository, npmSettings } from './test-repository.ts';

const rewrite = inject('campaign') === 'long' ? undefined : linkPackages;

describe('operator pages', () => {
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

  it.each(followedPages.operator)('an operator gets the results that %s shows', async (page) => {
    const given = { INLET_REPOSITORY: repository.folder, ...stores.environment };
    const { ran, compared } = await followPage(page, terminal, given, rewrite);
    expect(ran).toBeGreaterThan(0);
    expect(compared).toBeGreaterThan(0);
  });
});
