import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import {
  bumpChart,
  bumpLockFile,
  bumpManifest,
  nextVersion,
  releaseChangelog,
  unreleasedChanges,
} from './release/new-version.ts';

// `npm run release -- minor` shows what a release would change. With --yes, it writes the files, commits them, and adds
// the tag. It never pushes.

const { values, positionals } = parseArgs({
  options: { yes: { type: 'boolean', default: false } },
  allowPositionals: true,
});

try {
  release(positionals[0] ?? '');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function release(wanted: string): void {
  const from = manifest.version;
  const to = nextVersion(from, wanted);
  const date = new Date().toISOString().slice(0, 10);
  const changes = unreleasedChanges(readFileSync('CHANGELOG.md', 'utf8'));
  const files = changedFiles(from, to, date);
  requireCleanTree();
  requireGreenCheck();

  print(`${from} → ${to}, dated ${date}`);
  for (const { path } of files) print(`  ${path}`);
  print(`\n${changes}\n`);
  if (!values.yes) {
    print('Dry run: nothing was changed. Run again with --yes to write these files, commit them, and add the tag.');
    return;
  }
  for (const { path, text } of files) writeFileSync(path, text);
  run('npm', ['run', '--silent', 'generate']);
  run('git', ['add', '--all']);
  run('git', ['commit', '--quiet', '--message', `chore(release): ${to}`]);
  run('git', ['tag', '--annotate', `v${to}`, '--message', `Inlet ${to}\n\n${changes}`]);
  print(`Committed and tagged v${to}. Push with: git push --follow-tags`);
}

function changedFiles(from: string, to: string, date: string): { readonly path: string; readonly text: string }[] {
  const changed = (paths: readonly string[], change: (text: string) => string): { path: string; text: string }[] =>
    paths.map((path) => ({ path, text: change(readFileSync(path, 'utf8')) }));
  const manifests = ['package.json', ...globSync('packages/*/package.json').toSorted(), 'site/package.json'];
  return [
    ...changed(manifests, (text) => bumpManifest(text, from, to)),
    ...changed(['package-lock.json', 'site/package-lock.json'], (text) => bumpLockFile(text, from, to)),
    ...changed(['deploy/helm/inlet/Chart.yaml'], (text) => bumpChart(text, from, to)),
    ...changed(['CHANGELOG.md'], (text) => releaseChangelog(text, to, date)),
  ];
}

function requireCleanTree(): void {
  const changes = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' });
  if (changes !== '') throw new Error(`Commit or remove these changes first:\n${changes.trimEnd()}`);
}

function requireGreenCheck(): void {
  const { status } = spawnSync('npm', ['run', '--silent', 'check'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('"npm run check" failed. Fix the reported problems first.');
}

function run(command: string, parameters: readonly string[]): void {
  execFileSync(command, parameters, { stdio: 'inherit' });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
