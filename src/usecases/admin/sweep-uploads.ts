import { uploadGraceHours } from '../../domain/upload.ts';
import type { UploadStorage, UploadSweep } from '../../ports/upload-storage.ts';

export type UploadSweepDeps = {
  readonly uploadSweep: UploadSweep;
  readonly uploads: Pick<UploadStorage, 'abort'>;
};

const abortedAtATime = 100;

/**
 * Removes the parts of uploads that have expired. Returns the number of uploads. If an upload cannot be aborted, the
 * others still are, and the sweep fails at the end.
 */
export async function abortExpiredUploads(
  { uploadSweep, uploads }: UploadSweepDeps,
  signal: AbortSignal,
): Promise<number> {
  let aborted = 0;
  let failed = 0;
  let cause: unknown;
  for (let afterId = 0; !signal.aborted;) {
    const expired = await uploadSweep.listExpired(uploadGraceHours, { afterId, limit: abortedAtATime });
    const ended: number[] = [];
    for (const upload of expired) {
      if (signal.aborted) break;
      try {
        await uploads.abort(upload);
        ended.push(upload.id);
      } catch (error) {
        failed += 1;
        cause ??= error;
      }
    }
    await uploadSweep.markEnded(ended);
    aborted += ended.length;
    const last = expired.at(-1);
    if (!last) break;
    afterId = last.id;
  }
  if (failed > 0) throw new Error(`${failed} of ${aborted + failed} expired uploads were not aborted`, { cause });
  return aborted;
}
