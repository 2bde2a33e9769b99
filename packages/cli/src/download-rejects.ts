import type { RejectsFile } from '@inlet/sdk';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CliFailure, exitCode } from './failures/cli-failure.ts';
import { pathFailure } from './failures/path-errors.ts';
import type { Output } from './terminal/output.ts';

/** Downloads an exported file to its path below the directory. A partial download never has the final name. */
export async function downloadRejects(file: RejectsFile, directory: string, output: Output): Promise<void> {
  const { url, rejects_path: name } = file;
  if (url === null || name === null) return;
  const path = resolve(directory, name);
  // The path comes from the service, which must not choose a file outside the directory.
  if (!path.startsWith(resolve(directory) + sep)) throw downloadFailure(name, 'the path is outside the directory');
  const answer = await fetch(url).catch((error: unknown) => {
    throw downloadFailure(name, error instanceof Error ? error.message : String(error));
  });
  if (!answer.ok || !answer.body) throw downloadFailure(name, `the storage returned HTTP ${answer.status}`);
  const partial = `${path}.part`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await pipeline(Readable.fromWeb(answer.body), createWriteStream(partial));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw pathFailure(path, 'written', error);
  }
  output.note(`downloaded ${path}`);
}

function downloadFailure(name: string, reason: string): CliFailure {
  return new CliFailure({
    code: 'download_failed',
    detail: `${name} was not downloaded: ${reason}.`,
    remedy: 'Run the command again. Files that were exported completely are not exported again.',
    exitCode: exitCode.unavailable,
  });
}
