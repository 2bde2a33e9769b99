import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { pathInRepository } from './tree-copy.ts';

const folder = pathInRepository('deploy/observability');
const rules = readFileSync(join(folder, 'alerts.yml'), 'utf8');
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].flatMap(([, name]) => name ?? []);

/** Returns whether promtool succeeds. */
function promtool(directory: string, ...parameters: string[]): boolean {
  try {
    execFileSync('/usr/bin/promtool', parameters, { cwd: directory, stdio: 'pipe' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 1) return false;
    throw error;
  }
}

describe('the alert rules', () => {
  const copy = mkdtempSync(join(tmpdir(), 'inlet-alerts-'));
  afterAll(() => rmSync(copy, { recursive: true }));

  it('all alert rules are valid and pass their tests', () => {
    expect(alerts.length).toBeGreaterThan(10);
    expect(promtool(folder, 'check', 'rules', 'alerts.yml')).toBe(true);
    expect(promtool(folder, 'test', 'rules', 'alerts.test.yml')).toBe(true);
  });

  /** The gate silences every fifth alert. The long run silences every alert. */
  const silenced = alerts.filter((_, index) => inject('campaign') === 'long' || index % 5 === 0);
  it.each(silenced)('a rule test fails if the alert %s never fires', (name) => {
    const changed = rules.replace(
      new RegExp(`(- alert: ${name}\\n(?:\\s+#.*\\n)?\\s+expr:)[\\s\\S]*?\\n(\\s+(?:for|labels):)`),
      '$1 vector(0) > 1\n$2',
    );
    expect(changed).not.toBe(rules);
    writeFileSync(join(copy, 'alerts.yml'), changed);
    writeFileSync(join(copy, 'alerts.test.yml'), readFileSync(join(folder, 'alerts.test.yml')));
    expect(promtool(copy, 'check', 'rules', 'alerts.yml')).toBe(true);
    expect(promtool(copy, 'test', 'rules', 'alerts.test.yml')).toBe(false);
  });

  it('explains every alert in the README, which links to the incidents page', () => {
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    const explained = [...readme.matchAll(/^\| `(Inlet\w+)` +\| [^|]+ \|$/gm)].flatMap(([, name]) => name ?? []);
    expect(explained.toSorted()).toEqual(alerts.toSorted());
    // page-commands.test.ts checks that the page covers every alert.
    expect(readme).toContain('](../../docs/operators/incidents.md)');
  });
});
