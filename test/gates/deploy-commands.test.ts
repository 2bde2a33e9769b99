import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pathInRepository } from './tree-copy.ts';

// Runs the shell commands in deploy/ with stubs for programs that are not installed.

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inlet-deploy-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Adds a stub program to the PATH of `run`. */
function addProgram(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}`);
  chmodSync(join(folder, name), 0o755);
}

function run(command: readonly string[], settings: Record<string, string>, input = '') {
  const [program = '', ...rest] = command;
  const env = { PATH: `${folder}:/usr/bin:/bin`, ...settings };
  const { status, stdout, stderr } = spawnSync(program, rest, {
    cwd: folder,
    env,
    input,
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { status, out: stdout, stderr };
}

describe('make-bucket.sh', () => {
  // The stub behaves like SeaweedFS. It prints a configuration before saving it, prints errors, and always exits
  // with 0.
  const weed = `
read -r command rest
case "$command $rest" in
  's3.configure ') cat users 2>/dev/null ;;
  's3.configure '*)
    secret=\${rest#*-secret_key=}
    shown="{ \\"identities\\": [{ \\"name\\":  \\"inlet\\", \\"credentials\\": [{ \\"accessKey\\": \\"inlet\\", \\"secretKey\\":  \\"\${secret%% *}\\" }] }] }"
    echo "$shown"
    echo x >>tries
    if [ "$(wc -l <tries)" -gt "$FAILING" ]; then echo "$shown" >users; else echo 'error: no filer yet' >&2; fi ;;
  's3.bucket.list ') cat buckets 2>/dev/null ;;
  's3.bucket.create -name=inlet') printf '  inlet\\tsize:0\\tchunk:0\\n' >>buckets ;;
  *) echo "unknown command: $command" >&2 ;;
esac
exit 0
`;
  const makeBucket = (secret: string, failing = 0) => {
    addProgram('weed', weed);
    addProgram('sleep', '');
    rmSync(join(folder, 'tries'), { force: true });
    return run(['sh', pathInRepository('deploy/compose/make-bucket.sh')], {
      STORAGE_SECRET: secret,
      FAILING: String(failing),
    });
  };
  const kept = (name: string): string =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';

  it('creates the owner and the bucket without printing the secret', () => {
    const { status, out, stderr } = makeBucket('first0secret');
    expect([status, out + stderr]).toEqual([0, '']);
    expect(kept('users')).toContain('"first0secret"');
    expect(kept('buckets')).toBe('  inlet\tsize:0\tchunk:0\n');
  });

  it('creates the owner even if the bucket already exists', () => {
    writeFileSync(join(folder, 'buckets'), '  inlet\tsize:0\tchunk:0\n');
    const { status, out, stderr } = makeBucket('first0secret', 2);
    expect([status, out, stderr]).toEqual([0, '', 'error: no filer yet\n'.repeat(2)]);
    expect(kept('users')).toContain('"first0secret"');
    expect(kept('buckets')).toBe('  inlet\tsize:0\tchunk:0\n');
  });

  it('sets a new secret for the owner when it runs again', () => {
    makeBucket('first0secret');
    expect(makeBucket('second0secret', 1).status).toBe(0);
    expect(kept('users')).toContain('"second0secret"');
    expect(kept('tries')).toBe('x\nx\n');
  });
});

describe('creating a partner on Ceph', () => {
  const scriptIn = (path: string): string | undefined =>
    / -- sh -ac '([^'\n]+)' <storage-admin\.env$/m.exec(readFileSync(pathInRepository(path), 'utf8'))?.[1];
  const script = scriptIn('deploy/README.md') ?? '';

  it('the command is the same in deploy/README.md and in the chart notes', () => {
    expect(script).not.toBe('');
    expect(scriptIn('deploy/helm/inlet/templates/NOTES.txt')).toBe(script);
  });

  it("passes the admin keys in addition to the pod's environment", () => {
    addProgram(
      'node',
      'echo "$*; $INLET_S3_BUCKET; $INLET_STORAGE_ADMIN_ACCESS_KEY_ID; $INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY"',
    );
    const file = 'INLET_STORAGE_ADMIN_ACCESS_KEY_ID=admin\nINLET_STORAGE_ADMIN_SECRET_ACCESS_KEY=a/b+c=\n';
    const { status, out } = run(['sh', '-ac', script], { INLET_S3_BUCKET: 'bucket' }, file);
    expect([status, out]).toEqual([0, 'bin/inlet partner create acme; bucket; admin; a/b+c=\n']);
  });
});
