import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { randomKeys } from '../../src/adapters/vault/keys.ts';
import { listTrackedFiles, pathInRepository } from './tree-copy.ts';

const page = readFileSync(pathInRepository('docs/threat-model.md'), 'utf8');
const files = new Set(listTrackedFiles());

function threatsIn(text: string): { threat: string; measure: string; tests: string }[] {
  const table = text.split('## Threats')[1] ?? '';
  const rows = table.split('\n').filter((line) => /^\| (?!Threat|-)/.test(line));
  return rows.map((row) => {
    const [, threat = '', measure = '', tests = ''] = row.split('|').map((cell) => cell.trim());
    return { threat, measure, tests };
  });
}

/** Each row must either be marked as open or list existing tests. */
function faultsIn(text: string): string[] {
  return threatsIn(text).flatMap(({ threat, measure, tests }) => {
    if (threat === '' || measure === '') return [`"${threat}" has an empty cell`];
    if (tests === 'open') return measure.startsWith('nothing') ? [] : [`"${threat}" is open but has a measure`];
    if (tests.startsWith('open: ')) return [];
    const named = [...tests.matchAll(/`([^`]*)`/g)].map(([, path = '']) => path);
    if (named.length === 0) return [`"${threat}" is neither open nor tested`];
    const wrong = named.filter((path) => !path.endsWith('.test.ts') || !files.has(path));
    return wrong.map((path) => `"${threat}" names ${path}, which is not a test`);
  });
}

describe('the threat model', () => {
  it('lists existing tests for each threat or marks the threat as open', () => {
    expect(threatsIn(page).length).toBeGreaterThan(25);
    expect(faultsIn(page)).toEqual([]);
  });

  it.each([
    ['| a | b | `test/nowhere.test.ts` |', '"a" names test/nowhere.test.ts, which is not a test'],
    ['| a | b | `src/domain/secret.ts` |', '"a" names src/domain/secret.ts, which is not a test'],
    ['| a | b | `src/domain/secret.test.ts`, `x.test.ts` |', '"a" names x.test.ts, which is not a test'],
    ['| a | b | src/domain/secret.test.ts |', '"a" is neither open nor tested'],
    ['| a | b | opening soon |', '"a" is neither open nor tested'],
    ['| a | b |  |', '"a" is neither open nor tested'],
    ['| a | b | open |', '"a" is open but has a measure'],
    ['| a |  | open |', '"a" has an empty cell'],
  ])('rejects the row %s', (row, fault) => {
    expect(faultsIn(`## Threats\n\n| Threat | Measure | Test |\n| --- | --- | --- |\n${row}\n`)).toEqual([fault]);
  });
});

describe('SECURITY.md', () => {
  const text = readFileSync(pathInRepository('SECURITY.md'), 'utf8');
  const patternAfter = (secret: string): RegExp =>
    new RegExp(`^${new RegExp(`\\| ${secret} +\\| \`([^\`]+)\``).exec(text)?.[1] ?? 'no pattern'}$`);

  it('contains patterns that match every issued key', () => {
    for (let n = 0; n < 1_000; n += 1) {
      expect(randomKeys('apiKey', 'live').issue().key.reveal()).toMatch(patternAfter('partner API key'));
      expect(randomKeys('userToken', 'live').issue().key.reveal()).toMatch(patternAfter('customer user token'));
    }
  });
});
