import { execFile } from 'node:child_process';
import { resolve as absolute } from 'node:path';

export type Ended = { readonly code: number; readonly out: string; readonly stderr: string };

/**
 * Runs podman with the images from deploy/image/build-here.sh. Passes settings by name, so that `ps` does not show
 * their values.
 */
export function podman(parameters: readonly string[], settings: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...settings }, maxBuffer: 100_000_000 };
    const child = execFile(absolute('deploy/image/podman.sh'), parameters, options, (_error, out, stderr) => {
      resolve({ code: child.exitCode ?? -1, out, stderr });
    });
  });
}

export async function podmanOutput(...given: Parameters<typeof podman>): Promise<string> {
  const { code, out, stderr } = await podman(...given);
  if (code !== 0) throw new Error(`podman ${given[0].join(' ')}: ${stderr}`);
  return out;
}

const image = 'localhost/inlet';

/**
 * As in compose.yaml and the chart, the container is read-only and has no capabilities. It uses the host network to
 * reach the servers.
 */
function runParameters(settings: Readonly<Record<string, string>>): string[] {
  return [
    'run',
    '--network=host',
    '--read-only',
    '--read-only-tmpfs=false',
    '--cap-drop=all',
    '--security-opt=no-new-privileges',
    '--ulimit=nofile=4096:4096',
    '--ulimit=nproc=4096:4096',
    // The health check's timer needs systemd, so the test runs the check itself.
    '--no-healthcheck',
    ...Object.keys(settings).map((name) => `--env=${name}`),
  ];
}

/** Runs a command in the image and waits until it exits. */
export function runInImage(settings: Readonly<Record<string, string>>, ...command: string[]): Promise<Ended> {
  return podman([...runParameters(settings), '--rm', image, ...command], settings);
}

export async function startInImage(
  name: string,
  settings: Readonly<Record<string, string>>,
  ...command: string[]
): Promise<void> {
  await podmanOutput([...runParameters(settings), '--detach', `--name=${name}`, image, ...command], settings);
}

/** Runs a program in the image variant for backups. */
export function runForBackup(program: string, ...parameters: string[]): Promise<Ended> {
  return podman([...runParameters({}), '--rm', `--entrypoint=${program}`, `${image}-backup`, ...parameters]);
}

export async function inspectImage(): Promise<string> {
  return podmanOutput(['image', 'inspect', image]);
}

/** Mounts the image's file system. */
export async function mountImage(): Promise<{ readonly folder: string; readonly unmount: () => Promise<void> }> {
  const folder = (await podmanOutput(['image', 'mount', image])).trim();
  return {
    folder,
    unmount: async () => {
      await podmanOutput(['image', 'unmount', image]);
    },
  };
}
