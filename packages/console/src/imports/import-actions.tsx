import type { ImportLog } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api } from '../api.ts';
import { Dialog } from '../components/page.tsx';
import { ProblemNotice } from '../components/state.tsx';
import { useChange } from '../components/use-change.ts';
import { formatCount } from '../format.ts';
import { signedIn } from '../session.ts';
import { afterCancel, canCancel, canRetry, canRetryFailed } from './describe-import.ts';

/** Buttons for what the API would accept for the import in its state. */
export function ImportActions({ record }: { readonly record: ImportLog }) {
  const [isOpen, setOpen] = useState(false);
  if (!signedIn()?.scopes.includes('marketplace:write')) return null;
  return (
    <>
      {canCancel(record) && (
        <button type="button" onClick={() => setOpen(true)}>
          Cancel {record.log_type === 1 ? 'delete' : 'import'}
        </button>
      )}
      {canRetry(record) && <RetryButtons record={record} />}
      {isOpen && <CancelDialog record={record} onClose={() => setOpen(false)} />}
    </>
  );
}

function CancelDialog({ record, onClose }: { readonly record: ImportLog; readonly onClose: () => void }) {
  const change = useChange();
  const { import_log_id: id, progress } = record;
  const noun = record.log_type === 1 ? 'delete' : 'import';
  async function cancel(): Promise<void> {
    if (await change.send((options) => api.cancelImport(id, options))) onClose();
  }
  return (
    <Dialog title={`Cancel ${noun} ${id}?`} onClose={onClose}>
      {change.problem && <ProblemNotice problem={change.problem} />}
      <p>
        {record.started_at === null
          ? `It has not started, so nothing is ${record.log_type === 1 ? 'deleted' : 'loaded'}.`
          : `${formatCount(progress.rows_read)} rows have been read so far. Only files that have been read completely are loaded.`}
      </p>
      <p>{afterCancel(record)}</p>
      <div class="row">
        <button type="button" class="danger" disabled={change.isSending} onClick={() => void cancel()}>
          Cancel the {noun}
        </button>
        <button type="button" onClick={onClose}>
          Keep it running
        </button>
      </div>
    </Dialog>
  );
}

function RetryButtons({ record }: { readonly record: ImportLog }) {
  const { import_log_id: id } = record;
  const { route } = useLocation();
  const { problem, isSending, dismiss, send } = useChange();
  async function retry(files: 'all' | 'failed'): Promise<void> {
    const made = await send((options) => api.retryImport(id, { files }, options));
    if (made) route(`/console/imports/${made.value.import_log_id}`);
  }
  return (
    <>
      {canRetryFailed(record) && (
        <button type="button" class="primary" disabled={isSending} onClick={() => void retry('failed')}>
          Retry failed files
        </button>
      )}
      <button type="button" disabled={isSending} onClick={() => void retry('all')}>
        Retry import
      </button>
      {problem && (
        <Dialog title="The import was not retried" onClose={dismiss}>
          <ProblemNotice problem={problem} />
        </Dialog>
      )}
    </>
  );
}
