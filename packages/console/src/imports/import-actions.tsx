import type { ImportLog } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api } from '../api.ts';
import { CredentialsDialog } from '../components/credentials-dialog.tsx';
import { Dialog } from '../components/page.tsx';
import { ProblemNotice } from '../components/state.tsx';
import { useChange } from '../components/use-change.ts';
import { formatCount } from '../format.ts';
import { signedIn } from '../session.ts';
import { afterCancel, canCancel, canRetry, canRetryFailed } from './describe-import.ts';

/** Buttons for the actions that the API accepts for the import in its current state. */
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

type Files = 'all' | 'failed';

function RetryButtons({ record }: { readonly record: ImportLog }) {
  const { import_log_id: id, path_type } = record;
  const { route } = useLocation();
  const { problem, isSending, dismiss, send } = useChange();
  const [asking, setAsking] = useState<Files | null>(null);
  const open = (made: { readonly import_log_id: number }): void => route(`/console/imports/${made.import_log_id}`);
  async function retry(files: Files): Promise<void> {
    if (path_type === 1) return setAsking(files);
    const made = await send((options) => api.retryImport(id, { files }, options));
    if (made) open(made.value);
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
      {asking && (
        <CredentialsDialog
          title={asking === 'failed' ? 'Retry failed files' : 'Retry import'}
          submitText="Retry"
          send={(credentials, options) => api.retryImport(id, { files: asking, credentials }, options)}
          onDone={open}
          onClose={() => setAsking(null)}
        />
      )}
      {problem && (
        <Dialog title="The import was not retried" onClose={dismiss}>
          <ProblemNotice problem={problem} />
        </Dialog>
      )}
    </>
  );
}
