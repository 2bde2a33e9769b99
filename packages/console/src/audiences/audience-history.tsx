import type { Answered, AudienceDetails, AudienceHistoryEntry } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { Dialog } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, ProblemNotice, Status, Time } from '../components/state.tsx';
import { type ChangeOptions, useChange } from '../components/use-change.ts';
import { formatCount } from '../format.ts';
import { describeProgress } from '../imports/describe-import.ts';
import { signedIn } from '../session.ts';
import { actionsOn, isRetriedByPartner } from './describe-audience.ts';

const refreshMs = 3_000;

type Append = NonNullable<AudienceHistoryEntry['append']>;
type Act = (append: Append, action: 'cancel' | 'all' | 'failed') => void;

type Props = { readonly audience: AudienceDetails; readonly version: number; readonly onChange: () => void };

/** Shows what was appended and cleared, when, and by whom. Users can cancel and retry appends here. */
export function AudienceHistory({ audience: { audience_id: id, status, updated_at }, version, onChange }: Props) {
  const isOpen = status < 2;
  const change = useChange();
  const [canceled, setCanceled] = useState<Append | null>(null);
  const canWrite = signedIn()?.scopes.includes('audience:write') ?? false;

  const act: Act = (append, action) => {
    if (action === 'cancel') return setCanceled(append);
    void send((options) => api.retryAppend(id, append.append_id, { files: action }, options));
  };
  async function send<T>(call: (options: ChangeOptions) => Promise<Answered<T>>): Promise<void> {
    await change.send(call);
    onChange();
  }

  return (
    <section class="stack" aria-labelledby="history">
      <h2 id="history">History</h2>
      {change.problem && <ProblemNotice problem={change.problem} />}
      <PagedTable
        listKey={`history ${id}`}
        version={`${version} ${isOpen ? 'open' : updated_at}`}
        caption="Appends and clears of the audience, newest first"
        load={(page, signal) => api.listAudienceHistory(id, { query: { limit: 20, ...page }, signal })}
        rowKey={({ at, append }) => append?.append_id ?? at}
        columns={canWrite ? [...columns, actionColumn(act, change.isSending)] : columns}
        empty={<Empty title="No history yet" />}
        {...(isOpen ? { refreshMs } : {})}
      />
      {canceled && (
        <Dialog title={`Cancel append ${canceled.append_id}?`} onClose={() => setCanceled(null)}>
          <p>
            Files of{' '}
            <strong>
              “<GivenText text={canceled.file_path} />”
            </strong>{' '}
            that have been read completely are loaded. All others are not loaded, and their entries fail. You can retry
            or dismiss them later.
          </p>
          <div class="row">
            <button
              type="button"
              class="danger"
              onClick={() => {
                setCanceled(null);
                void send((options) => api.cancelAppend(id, canceled.append_id, options));
              }}
            >
              Cancel the append
            </button>
            <button type="button" onClick={() => setCanceled(null)}>
              Keep it running
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

const columns: readonly [Column<AudienceHistoryEntry>, ...Column<AudienceHistoryEntry>[]] = [
  {
    name: 'Path',
    cell: ({ append }) =>
      append === null ? (
        <em>Cleared</em>
      ) : (
        <div>
          <GivenText text={append.file_path} />
          <span class="small muted">
            {' '}
            #{append.append_id}
            {append.retry_of !== null && ` repeats #${append.retry_of}`}
          </span>
          {append.cancel_requested_at !== null && (
            <span class="small muted">
              {' '}
              canceled by {append.canceled_by ?? `the ${append.cancel_requested_by}`}{' '}
              <Time at={append.cancel_requested_at} />
            </span>
          )}
        </div>
      ),
  },
  { name: 'Status', cell: ({ append }) => append && (append.cleared ? 'Cleared' : <AppendStatus append={append} />) },
  {
    name: 'Files',
    isNumber: true,
    cell: ({ append }) => append?.files && `${formatCount(append.files.loaded)} of ${formatCount(append.files.all)}`,
  },
  { name: 'Rows', isNumber: true, cell: ({ append }) => append && formatCount(append.rows_uploaded) },
  { name: 'When', cell: ({ at }) => <Time at={at} /> },
  { name: 'By', cell: ({ by }) => (by === null ? 'Not recorded' : <GivenText text={by} />) },
];

function AppendStatus({ append }: { readonly append: Append }) {
  return (
    <>
      <Status status={append.status} />
      {append.status < 2 && <div class="small muted">{describeProgress(append)}</div>}
    </>
  );
}

const labels = { cancel: 'Cancel', failed: 'Retry failed files', all: 'Retry' } as const;

function actionColumn(act: Act, isSending: boolean): Column<AudienceHistoryEntry> {
  const { upload_folder: uploadFolder = null, partner = null } = signedIn() ?? {};
  return {
    name: 'Actions',
    cell: ({ append }) =>
      append && (
        <div class="row">
          {isRetriedByPartner(append, uploadFolder) && (
            <span class="small muted">
              Only <GivenText text={partner ?? 'the partner'} /> can retry it, because the files are not your uploads.
            </span>
          )}
          {actionsOn(append, uploadFolder).map((action) => (
            <button key={action} type="button" disabled={isSending} onClick={() => act(append, action)}>
              {labels[action]}
              <span class="visually-hidden"> append {append.append_id}</span>
            </button>
          ))}
        </div>
      ),
  };
}
