import { type Failure, type Result, fail, succeed } from '../result.ts';
import { describe } from '../send.ts';
import { objectStorage } from './object-storage.ts';
import { uploadNotes } from './resume.ts';
import { type NamedSource, type UploadFile, sourceOf } from './sources.ts';
import type { Storage } from './storage.ts';
import { Permits, type UploadedFile, uploadOneFile } from './upload-file.ts';

export type { UploadFile } from './sources.ts';

export type UploadOptions = {
  /** Destination relative to the partner's prefix. A trailing slash is added if it is missing. */
  readonly prefix?: string | undefined;
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Aborts the upload. Incomplete files are removed unless they can be resumed. */
  readonly signal?: AbortSignal | undefined;
  /** Part size in bytes, at least 5 MiB. Default: 8 MiB. */
  readonly partSize?: number | undefined;
  /** Maximum number of parts in memory and in flight, across all files. Default: 4. */
  readonly parallel?: number | undefined;
  /**
   * A folder for the state of unfinished uploads. If it is set, repeating an interrupted call resumes the upload, and a
   * file that is already uploaded with the same content is not sent again. Applies only to files specified by path.
   */
  readonly resumeFolder?: string | undefined;
};

export type UploadProgress = {
  readonly bytes_sent: number;
  /** Bytes that were already in the storage and were not sent again. */
  readonly bytes_there: number;
  /** Null if a file is a stream of unknown size. */
  readonly bytes_total: number | null;
  readonly files_done: number;
  readonly files_total: number;
};

export type Uploaded = {
  /** Use it as `file_path` to import all of these files. */
  readonly prefix: string;
  readonly files: readonly UploadedFile[];
};

const mebibyte = 1024 * 1024;

export async function uploadFiles(
  storage: Storage | null,
  files: readonly UploadFile[],
  { prefix: given = '', onProgress, signal, partSize = 8 * mebibyte, parallel = 4, resumeFolder }: UploadOptions,
): Promise<Result<Uploaded>> {
  const prefix = given === '' || given.endsWith('/') ? given : `${given}/`;
  if (!storage) return fail('invalid_argument', 'Uploads require the `storage` setting.', 0);
  if (!Number.isInteger(partSize) || partSize < 5 * mebibyte) return wrong('partSize must be at least 5 MiB');
  if (!Number.isInteger(parallel) || parallel < 1) return wrong('parallel must be at least 1');
  const described = await describeAll(files);
  if (!described.ok) return described;
  const sources = described.value;
  const paths = sources.map(({ name }) => prefix + name);
  const badPath = paths.find((path) => !isPath(path));
  if (badPath !== undefined) return wrong(`${JSON.stringify(badPath)} is not a path under the prefix`);
  if (new Set(paths).size < paths.length) return wrong('two files have the same name');

  const failure = new AbortController();
  const either = signal ? AbortSignal.any([signal, failure.signal]) : failure.signal;
  const sizes = sources.map(({ size }) => size);
  const progress = {
    bytes_sent: 0,
    bytes_there: 0,
    bytes_total: sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0),
    files_done: 0,
    files_total: sources.length,
  };
  const state: { failed: Failure | null; thrown: unknown[] } = { failed: null, thrown: [] };
  const tell = (): void => {
    try {
      onProgress?.({ ...progress });
    } catch (error) {
      state.thrown.push(error); // rethrown to the caller after cleanup
      failure.abort();
    }
  };
  const shared = {
    storage: objectStorage(storage, either),
    permits: new Permits(parallel),
    partSize,
    signal: either,
    notes: resumeFolder === undefined ? null : uploadNotes(resumeFolder),
    addressOf: (path: string) => `${storage.url.href}/${storage.prefix}${path}`,
    onBytes: (bytes: number, how: 'sent' | 'there') => {
      progress[how === 'sent' ? 'bytes_sent' : 'bytes_there'] += bytes;
      tell();
    },
  };
  const uploaded: UploadedFile[] = [];
  const queue = sources.entries();
  const work = async (): Promise<void> => {
    for (const [index, source] of queue) {
      const result = await uploadOneFile(shared, prefix + source.name, source);
      if (!result.ok) {
        state.failed ??= result;
        failure.abort();
        return;
      }
      uploaded[index] = result.value;
      progress.files_done += 1;
      tell();
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, sources.length) }, work));
  if (state.thrown.length > 0) throw state.thrown[0];
  return state.failed ?? succeed({ prefix, files: uploaded });
}

async function describeAll(files: readonly UploadFile[]): Promise<Result<NamedSource[]>> {
  const sources: NamedSource[] = [];
  for (const file of files) {
    try {
      sources.push(await sourceOf(file));
    } catch (error) {
      return fail('unreadable_file', describe(error), 0);
    }
  }
  return succeed(sources);
}

/** Whether Inlet accepts the path and the path can be part of a URL. */
function isPath(path: string): boolean {
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !/\p{Cc}|\p{Cs}/u.test(path);
}

function wrong(detail: string): Failure {
  return fail('invalid_argument', `${detail}.`, 0);
}
