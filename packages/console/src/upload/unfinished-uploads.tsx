import { useState } from 'preact/hooks';
import { GivenText } from '../components/given-text.tsx';
import { Notice } from '../components/state.tsx';
import { formatBytes, formatCount } from '../format.ts';
import type { UploadJob } from './upload-job.ts';

const named = 5;

/** Uploads that were interrupted, for example by a reload. The reader must choose the files again. */
export function UnfinishedUploads({ job }: { readonly job: UploadJob }) {
  const [isDiscarding, setDiscarding] = useState(false);
  // The job is the same object on every render, so its version shows whether it has changed.
  void job.version.value;
  const waiting = job.interrupted;
  if (waiting.length === 0 || job.isUploading) return null;
  async function discard(): Promise<void> {
    setDiscarding(true);
    await job.discard();
    setDiscarding(false);
  }
  return (
    <Notice kind="warn">
      <p>
        <strong>An upload was interrupted.</strong> Choose the same {waiting.length === 1 ? 'file' : 'files'} again to
        resume where it stopped. Files that you do not choose are not loaded, unless they are in the list below.
      </p>
      <ul>
        {waiting.slice(0, named).map(({ upload_id, name, size }) => (
          <li key={upload_id}>
            <GivenText text={name} /> <span class="small muted">{formatBytes(size)}</span>
          </li>
        ))}
        {waiting.length > named && <li>and {formatCount(waiting.length - named)} more</li>}
      </ul>
      <button type="button" disabled={isDiscarding} onClick={() => void discard()}>
        {isDiscarding ? 'Discarding …' : 'Discard the upload'}
      </button>
    </Notice>
  );
}
