import type { Uploaded, UploadProgress } from '@inlet/sdk';
import { join } from 'node:path';
import type { CommonOptions } from '../command.ts';
import { clientOf, readProfile } from '../connect.ts';
import { readEnvironment, xdgFolder } from '../environment.ts';
import { failureOf } from '../failures/api-errors.ts';
import { CliFailure, exitCode, interrupted } from '../failures/cli-failure.ts';
import { bytesOf, several } from '../terminal/format.ts';
import { type Output, untilInterrupted } from '../terminal/output.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import { table } from '../terminal/table.ts';
import { escapeTerminal } from '../terminal/text.ts';
import { type LocalFile, localFiles } from './local-files.ts';

export type UploadCommandOptions = CommonOptions & {
  readonly prefix: string;
  readonly parallel: number;
  readonly partSize: number;
  readonly resume: boolean;
};

const mebibyte = 1024 * 1024;

export async function runUpload(
  paths: readonly string[],
  options: UploadCommandOptions,
  output: Output,
): Promise<void> {
  const profile = await readProfile(options);
  if (!profile.storage) throw noStorage();
  const files = await localFiles(paths, (text) => output.note(text));
  const inlet = await clientOf(profile);
  const bar = progressBar(output);
  const uploaded = await untilInterrupted((signal) =>
    inlet.upload(files, {
      prefix: options.prefix,
      parallel: options.parallel,
      partSize: options.partSize * mebibyte,
      ...(options.resume ? { resumeFolder: join(xdgFolder(readEnvironment(), 'XDG_STATE_HOME'), 'uploads') } : {}),
      signal,
      onProgress: (progress) => bar.show(shownOf(progress, files)),
    }),
  ).finally(() => bar.end());
  if (uploaded.ok) {
    printUploaded(uploaded.value, output);
    return;
  }
  const hasStarted = !['invalid_argument', 'unwritable_folder'].includes(uploaded.problem.code);
  const hint = options.resume && hasStarted ? 'Run the same command again to resume.' : '';
  if (uploaded.problem.code === 'aborted') throw interrupted(`The upload is incomplete. ${hint}`.trimEnd());
  const { details } = failureOf(uploaded.problem);
  throw new CliFailure({ ...details, remedy: `${details.remedy} ${hint}`.trim() });
}

function shownOf(
  { bytes_sent, bytes_there, bytes_total, files_done, files_total }: UploadProgress,
  files: readonly LocalFile[],
): Parameters<ReturnType<typeof progressBar>['show']>[0] {
  return {
    what: files_total === 1 ? escapeTerminal(files[0]?.name ?? '') : `${files_done} of ${files_total} files`,
    done: bytes_sent + bytes_there,
    total: bytes_total ?? 0,
    skipped: bytes_there,
  };
}

function printUploaded(uploaded: Uploaded, output: Output): void {
  const { prefix, files } = uploaded;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  output.result(uploaded, () => {
    const columns = [
      { title: 'PATH', of: (file: (typeof files)[number]) => file.file_path, canShrink: true as const },
      { title: 'SIZE', align: 'right' as const, of: (file: (typeof files)[number]) => bytesOf(file.bytes) },
      { title: 'STATUS', of: (file: (typeof files)[number]) => (file.was_there ? 'already uploaded' : 'uploaded') },
    ];
    return `${table(columns, files, output.stdout)}\n${several(files.length, 'file')}, ${bytesOf(bytes)}`;
  });
  const [only] = files;
  const path = files.length === 1 && only ? only.file_path : prefix;
  if (path !== '') output.note(`Import with: inlet import ${quoted(path)}`);
}

function quoted(path: string): string {
  return /^[\w./=@%+:,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

function noStorage(): CliFailure {
  return new CliFailure({
    code: 'no_storage',
    detail: 'The login has no storage credentials.',
    remedy: 'Run `inlet login` with your storage credentials, or set the INLET_STORAGE_ variables and omit --profile.',
    exitCode: exitCode.notAllowed,
  });
}
