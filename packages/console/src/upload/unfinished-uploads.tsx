import { api } from '../api.ts';
import { useState } from 'preact/hooks';
import { GivenText } from '../components/given-text.tsx';
import { Notice } from '../components/state.tsx';
import { formatBytes, formatCount } from '../format.ts';
import { isOf } from './resume.ts';
import type { UploadJob } from './upload-job.ts';

const named = 5;

/** Uploads that were interrupted, for example by a reload. The reader must choose the files again. */
export function UnfinishedUploads({ job }: { readonly job: UploadJob }) {
  const [isDiscarding, setDiscarding] = useState(false);
  // The job is the same object at every render, so its version says when it has changed.
  void job.version.value;
  const files = [...job.entries.values()].map(({ file }) => file);
  const waiting = job.memory.all().filter((entry) => !files.some((file) => isOf(entry, file)));
  if (waiting.length === 0 || job.isUploading) return null;
  async function discard(): Promise<void> {
    setDiscarding(true);
    for (const { upload_id, is_complete } of waiting) if (!is_complete) await api.abortUpload(upload_id);
    job.memory.forget(waiting.map(({ upload_id }) => upload_id));
    setDiscarding(false);
  }
  return (
    <Notice kind="warn">
      <p>
        <strong>An upload was interrupted.</strong> Choose the same {waiting.length === 1 ? 'file' : 'files'} again to
        resume where it stopped:
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
