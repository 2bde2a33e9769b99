import { uploadGraceHours } from '../../domain/upload.ts';
import type { UploadStorage, UploadSweep } from '../../ports/upload-storage.ts';

export type UploadSweepDeps = {
  readonly uploadSweep: UploadSweep;
  readonly uploads: Pick<UploadStorage, 'abort'>;
};

const abortedAtATime = 100;

/** Removes the parts of uploads that have expired. Returns the number of uploads. */
export async function abortExpiredUploads(
  { uploadSweep, uploads }: UploadSweepDeps,
  signal: AbortSignal,
): Promise<number> {
  let all = 0;
  while (!signal.aborted) {
    const expired = await uploadSweep.listExpired(uploadGraceHours, abortedAtATime);
    if (expired.length === 0) break;
    for (const upload of expired) await uploads.abort(upload);
    await uploadSweep.markEnded(expired.map(({ id }) => id));
    all += expired.length;
  }
  return all;
}
