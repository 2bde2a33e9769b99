import type { ImportLog, Problem } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, noteExpiry } from '../api.ts';
import { Dialog } from '../components/page.tsx';
import { ProblemNotice } from '../components/state.tsx';
import { formatCount } from '../format.ts';
import { signedIn } from '../session.ts';
import { canCancel, canRetry, canRetryFailed } from './describe-import.ts';

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
  const [problem, setProblem] = useState<Problem | null>(null);
  const { import_log_id: id, progress } = record;
  async function cancel(): Promise<void> {
    const result = await api.cancelImport(id);
    if (result.ok) return onClose();
    noteExpiry(result.problem);
    setProblem(result.problem);
  }
  return (
    <Dialog title={`Cancel import ${id}?`} onClose={onClose}>
      {problem && <ProblemNotice problem={problem} />}
      <p>
        {record.started_at === null
          ? 'It has not started, so nothing is loaded.'
          : `${formatCount(progress.rows_read)} rows have been read so far. Only files that have been read completely are loaded.`}
      </p>
      <p>You can retry the import later.</p>
      <div class="row">
        <button type="button" class="danger" onClick={() => void cancel()}>
          Cancel the import
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
  const [problem, setProblem] = useState<Problem | null>(null);
  async function retry(files: 'all' | 'failed'): Promise<void> {
    const result = await api.retryImport(id, { files });
    if (result.ok) return route(`/console/imports/${result.value.import_log_id}`);
    noteExpiry(result.problem);
    setProblem(result.problem);
  }
  return (
    <>
      {canRetryFailed(record) && (
        <button type="button" class="primary" onClick={() => void retry('failed')}>
          Retry failed files
        </button>
      )}
      <button type="button" onClick={() => void retry('all')}>
        Retry import
      </button>
      {problem && (
        <Dialog title="The import was not retried" onClose={() => setProblem(null)}>
          <ProblemNotice problem={problem} />
        </Dialog>
      )}
    </>
  );
}
