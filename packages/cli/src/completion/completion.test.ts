import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../cli.ts';
import { completionTree } from './completion.ts';
import { bashCompletion, fishCompletion, zshCompletion } from './shells.ts';

const places = completionTree(createProgram());

/** The completions that bash offers for the last word. */
function offered(...words: string[]): string[] {
  const quoted = ['inlet', ...words].map((word) => `'${word}'`).join(' ');
  const ask = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _inlet; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const script = `${bashCompletion(places)}\n${ask}`;
  return execFileSync('bash', ['--norc', '-uc', script], { encoding: 'utf8' }).split('\n').filter(Boolean);
}

describe('bash completion', () => {
  it.each([
    [['log'], ['login', 'logout']],
    [
      ['audience', 'c'],
      ['create', 'clear', 'cancel'],
    ],
    [['audience', 'create', '--w'], ['--watch']],
    [['imports', '--limit', '5', '--j'], ['--json']],
    [['import', 'x.csv', '--key-type', 'f'], ['foreign']],
    [
      ['import', '--mode', ''],
      ['merge', 'replace'],
    ],
    [
      ['completion', ''],
      ['--help', 'bash', 'zsh', 'fish'],
    ],
    [['login', '--from', 'b'], []],
    [['import', 'b'], []],
  ])('completes the words %j with %j', (words, expected) => {
    expect(offered(...words)).toEqual(expected);
  });

  it('offers every command after the program name', () => {
    expect(offered('')).toEqual(expect.arrayContaining(['login', 'import', 'imports', 'errors', 'audience', 'help']));
  });
});

describe('a completion script', () => {
  const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
  const isHere = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;

  for (const [shell, script] of Object.entries(scripts)) {
    it.skipIf(!isHere(shell))(`the completion script has valid ${shell} syntax`, () => {
      const folder = mkdtempSync(join(tmpdir(), 'inlet-completion-'));
      writeFileSync(join(folder, 'script'), script(places));
      const { status, stderr } = spawnSync(shell, ['-n', join(folder, 'script')], { encoding: 'utf8' });
      rmSync(folder, { recursive: true });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    });
  }
});

describe('zsh and fish completion', () => {
  it('describes every command and option', () => {
    const words = places.flatMap(({ commands, options }) => [...commands, ...options]);
    expect(words.length).toBeGreaterThan(80);
    const [zsh, fish] = [zshCompletion(places), fishCompletion(places)];
    for (const { word, about } of words) {
      expect(zsh).toContain(`'${word}:${about.replaceAll("'", `'\\''`)}'`);
      expect(fish).toContain(word.replace(/^--/, ''));
      expect(fish).toContain(about.replaceAll("'", String.raw`\'`));
    }
  });
});
