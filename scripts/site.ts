import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, watch } from 'node:fs';
import { findBrokenLinks } from './site/broken-links.ts';
import { isPage } from './site/site-pages.ts';
import { writePage, writePages } from './site/write-pages.ts';

// Builds or serves the documentation site: `node scripts/site.ts build` or `serve`. Its packages are in site/, separate
// from the packages of the service, and are installed if they are missing.

// oxlint-disable-next-line node/no-process-env -- passed on with one more variable
const env = { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' };
const isBuild = process.argv[2] === 'build';

installWhenMissing();
const { pages, faults } = writePages();
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (isBuild) build();
else await serve();

function installWhenMissing(): void {
  const installed = 'site/node_modules/.package-lock.json';
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync('site/package-lock.json').mtimeMs) return;
  run('npm', ['ci', '--loglevel=error'], 'site');
}

function build(): void {
  // Without --force, Astro would reuse pages that were rendered with other settings.
  run('npx', ['astro', 'build', '--silent', '--force'], 'site');
  const { links, broken } = findBrokenLinks('site/dist');
  for (const fault of broken) process.stderr.write(`${fault}\n`);
  process.stdout.write(`site/dist: ${pages} pages, ${links} links, ${broken.length} broken\n`);
  if (broken.length > 0 || faults.length > 0) process.exitCode = 1;
}

/** Rewrites changed pages, so that Astro reloads them. */
async function serve(): Promise<void> {
  watch('docs', { recursive: true }, (_event, name) => {
    const path = `docs/${name}`;
    if (isPage(path) && existsSync(path)) for (const fault of writePage(path)) process.stderr.write(`${fault}\n`);
  });
  const astro = spawn('npx', ['astro', 'dev'], { stdio: 'inherit', cwd: 'site', env });
  process.on('SIGINT', () => undefined); // Ctrl-C also stops Astro, and this process exits after Astro.
  await once(astro, 'exit');
  process.exit(astro.exitCode ?? 0);
}

function run(command: string, parameters: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, parameters, { stdio: 'inherit', cwd, env });
  if (status !== 0) process.exit(status ?? 1);
}
