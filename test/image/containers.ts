import { execFile } from 'node:child_process';
import { resolve as absolute } from 'node:path';

export type Ended = { readonly code: number; readonly out: string; readonly said: string };

/** podman with the images that deploy/image/build-here.sh has made. Settings come by their names, so that none is seen in `ps`. */
export function podman(parameters: readonly string[], settings: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', ...settings }, maxBuffer: 100_000_000 };
    const child = execFile(absolute('deploy/image/podman.sh'), parameters, options, (_error, out, said) => {
      resolve({ code: child.exitCode ?? -1, out, said });
    });
  });
}

export async function podmanOutput(...given: Parameters<typeof podman>): Promise<string> {
  const { code, out, said } = await podman(...given);
  if (code !== 0) throw new Error(`podman ${given[0].join(' ')}: ${said}`);
  return out;
}

const image = 'localhost/inlet';

/** As compose.yaml and the chart run it: nothing to write to, no rights. In the network of this machine, where the servers are. */
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
    // Its timer is systemd's, which is not everywhere. The test runs the check itself.
    '--no-healthcheck',
    ...Object.keys(settings).map((name) => `--env=${name}`),
  ];
}

/** One command of the image, to its end. */
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

export async function inspectImage(): Promise<string> {
  return podmanOutput(['image', 'inspect', image]);
}

/** Where its files can be read. */
export async function mountImage(): Promise<{ readonly folder: string; readonly unmount: () => Promise<void> }> {
  const folder = (await podmanOutput(['image', 'mount', image])).trim();
  return {
    folder,
    unmount: async () => {
      await podmanOutput(['image', 'unmount', image]);
    },
  };
}
