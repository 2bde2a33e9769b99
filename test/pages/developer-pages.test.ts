import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { followPage, followedPages } from './follow-page.ts';
import { type Terminal, openTerminal } from './terminal.ts';
import { linkPackages, makeRepository, npmSettings } from './test-repository.ts';

const rewrite = inject('campaign') === 'long' ? undefined : linkPackages;

describe('developer pages', () => {
  let repository: ReturnType<typeof makeRepository>;
  let terminal: Terminal;

  beforeAll(() => {
    repository = makeRepository();
    terminal = openTerminal(npmSettings());
  });
  afterAll(async () => {
    stopServersOf(join(terminal.folder, 'inlet'));
    await terminal.close();
    repository.remove();
  });

  it.each(followedPages.developer)('a developer gets the results that %s shows', async (page) => {
    const { ran, compared } = await followPage(page, terminal, { INLET_REPOSITORY: repository.folder }, rewrite);
    expect(ran).toBeGreaterThan(0);
    expect(compared).toBeGreaterThan(0);
  });
});

/** Stops the servers if an earlier step failed. Otherwise, the last step of the page stops them. */
function stopServersOf(clone: string): void {
  if (existsSync(join(clone, '.stack.json'))) {
    execFileSync(process.execPath, ['stack/cli/down.ts', '--purge'], { cwd: clone, stdio: 'ignore' });
  }
}
