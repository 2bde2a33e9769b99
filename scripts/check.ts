import { spawnSync } from 'node:child_process';

/** All checks that need no server, fastest first. */
const gates = [
  { name: 'format', script: 'check:format' },
  { name: 'lint and layers', script: 'check:lint' },
  { name: 'types', script: 'check:types' },
  { name: 'unused code', script: 'check:unused' },
  { name: 'generated files', script: 'check:generated' },
] as const;

const failed: string[] = [];
for (const { name, script } of gates) {
  const start = performance.now();
  const { status } = spawnSync('npm', ['run', '--silent', script], { stdio: 'inherit' });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)\n`);
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) {
  process.stdout.write(`failed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
